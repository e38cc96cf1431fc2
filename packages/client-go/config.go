package analytics

import (
	"encoding/json"
	"log"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Config has the settings of a program. A zero field means its default. A Client reads it at its first call; changes
// after that do nothing.
type Config struct {
	// Endpoint is the base URL of Posthaste's ingest; requests go to Endpoint + "/v1/batch". Default "http://127.0.0.1:8080",
	// the local command's.
	Endpoint string
	// FlushAt is how many queued calls trigger a flush; 1 sends each call at once, in a request of its own. Default 20.
	FlushAt int
	// Size is another name of FlushAt. When both are set, the smaller triggers.
	Size int
	// FlushAfter is the time since the last flush that triggers the next. Default 5 s.
	FlushAfter time.Duration
	// MaxQueueBytes of calls are held at most, waiting and in flight; a call past it goes to OnError. Default 16 MiB.
	MaxQueueBytes int
	// MaxInFlight is how many requests run at a time; 1 keeps batches in order. Default 8.
	MaxInFlight int
	// MaxAttempts is how many requests are made for one batch. Default 10, which spread over about 40 s.
	MaxAttempts int
	// RequestTimeout is how long one request may take. Default 10 s.
	RequestTimeout time.Duration
	// CloseTimeout is how long Close may take before undelivered calls go to OnError. Default 30 s.
	CloseTimeout time.Duration
	// Gzip compresses requests. Default false.
	Gzip bool
	// OnError gets the undelivered calls, and the reason; the messages are the calls as JSON. It may be called from
	// several goroutines at a time, and by a call whose queue is full. Without it, failures are logged.
	OnError func(err *Error, messages []json.RawMessage)
	// OnSuccess gets the delivered calls, a batch at a time. It may be called from several goroutines at a time.
	OnSuccess func(messages []json.RawMessage)
	// Transport makes the requests. Default: an http.Transport of the client's own that keeps MaxInFlight connections alive.
	Transport http.RoundTripper
	// Logger gets failures without OnError, the panics of callbacks, and with DEBUG=analytics in the environment each
	// step. Default: standard error.
	Logger *log.Logger
}

const (
	defaultEndpoint      = "http://127.0.0.1:8080"
	defaultFlushAt       = 20
	defaultFlushAfter    = 5 * time.Second
	defaultMaxQueueBytes = 16 << 20
	// defaultMaxInFlight: at 50 ms a request this is 3,200 calls a second with the default FlushAt.
	defaultMaxInFlight = 8
	defaultMaxAttempts = 10
	// defaultRequestTimeout: ingest answers within 5 s, with a 503 when its brokers did not take the calls; the rest is for
	// the network.
	defaultRequestTimeout = 10 * time.Second
	defaultCloseTimeout   = 30 * time.Second
)

type option[T int | time.Duration] struct {
	name      string
	value     *T
	otherwise T
}

// fillIn gives the options that are 0 their defaults; it refuses the first that is negative.
func fillIn[T int | time.Duration](expected string, options ...option[T]) *Error {
	for _, each := range options {
		if *each.value < 0 {
			return invalidOption(each.name, expected)
		}
		if *each.value == 0 {
			*each.value = each.otherwise
		}
	}
	return nil
}

// resolved returns the config with its defaults filled in: FlushAt is the threshold, Endpoint has no slash at its end.
func (c Config) resolved(writeKey string) (Config, *Error) {
	if writeKey == "" {
		return c, invalidOption("writeKey", "a non-empty string")
	}
	if c.Endpoint == "" {
		c.Endpoint = defaultEndpoint
	}
	if !isBaseURL(c.Endpoint) {
		return c, invalidOption("Endpoint", "an http or https URL without user, query or fragment")
	}
	c.Endpoint = strings.TrimRight(c.Endpoint, "/")
	err := fillIn("a whole number from 1, or 0 for the default",
		option[int]{"FlushAt", &c.FlushAt, math.MaxInt},
		option[int]{"Size", &c.Size, math.MaxInt},
		option[int]{"MaxQueueBytes", &c.MaxQueueBytes, defaultMaxQueueBytes},
		option[int]{"MaxInFlight", &c.MaxInFlight, defaultMaxInFlight},
		option[int]{"MaxAttempts", &c.MaxAttempts, defaultMaxAttempts},
	)
	if err != nil {
		return c, err
	}
	if c.FlushAt = min(c.FlushAt, c.Size); c.FlushAt == math.MaxInt {
		c.FlushAt = defaultFlushAt
	}
	err = fillIn("a positive duration, or 0 for the default",
		option[time.Duration]{"FlushAfter", &c.FlushAfter, defaultFlushAfter},
		option[time.Duration]{"RequestTimeout", &c.RequestTimeout, defaultRequestTimeout},
		option[time.Duration]{"CloseTimeout", &c.CloseTimeout, defaultCloseTimeout},
	)
	if err != nil {
		return c, err
	}
	if c.Transport == nil {
		c.Transport = newTransport(c.MaxInFlight)
	}
	if c.Logger == nil {
		c.Logger = log.New(os.Stderr, "", log.LstdFlags)
	}
	return c, nil
}

func isBaseURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

func invalidOption(option, expected string) *Error {
	return &Error{Code: CodeInvalidOption, Field: option, message: option + " must be " + expected}
}

// isDebugging reports whether the environment says DEBUG=analytics, alone or in a list.
func isDebugging() bool {
	for _, name := range strings.FieldsFunc(os.Getenv("DEBUG"), func(r rune) bool { return r == ',' || r == ' ' }) {
		if name == "analytics" {
			return true
		}
	}
	return false
}
