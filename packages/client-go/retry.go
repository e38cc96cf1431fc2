package analytics

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	firstRetryDelay = 100 * time.Millisecond
	maxRetryDelay   = 30 * time.Second
	// maxRetryAfter: a server that asks for more is asked again after this.
	maxRetryAfter = 5 * time.Minute
)

// answer is the result of one request: a complete answer, or the reason why there was none.
type answer struct {
	status     int
	retryAfter string
	body       []byte
	failure    error
}

// verdict is the next step for a batch. Exactly one of its three cases holds: failed is set, retry is true, or it was
// delivered but for the rejected calls.
type verdict struct {
	failed   *Error
	retry    bool
	delay    time.Duration
	hold     time.Duration // how long the server wants to hear nothing, from any batch
	reason   string
	rejected map[int]*Error
}

// judge: 2xx is delivered, but for the calls that the body lists as rejected. 5xx, 408, 425, 429 and no answer: again later,
// while attempts are left. Anything else would be answered the same the next time: failed. attempts counts this one.
func judge(a answer, attempts, maxAttempts int, now time.Time, random float64) verdict {
	if a.failure == nil {
		if a.status >= 200 && a.status < 300 {
			return verdict{rejected: rejectedCalls(a.body)}
		}
		if !isRetryable(a.status) {
			return verdict{failed: refusedError(a, attempts)}
		}
	}
	reason := "the server did not answer"
	if a.failure == nil {
		reason = "the server answered " + strconv.Itoa(a.status)
	}
	if attempts >= maxAttempts {
		times := strconv.Itoa(attempts) + " attempts"
		if attempts == 1 {
			times = "1 attempt"
		}
		message := "gave up after " + times + ": " + reason
		return verdict{failed: &Error{Code: CodeUnavailable, Status: a.status, Attempts: attempts, message: message, cause: a.failure}}
	}
	hold := holdFor(a, now)
	return verdict{retry: true, delay: max(hold, retryDelay(attempts, random)), hold: hold, reason: reason}
}

func isRetryable(status int) bool {
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooEarly ||
		status == http.StatusTooManyRequests
}

// retryDelay is the time before the next request after failures of them: doubling from 100 ms to 30 s, less up to half of it
// by chance, so that clients that failed together do not return together. Whole milliseconds.
func retryDelay(failures int, random float64) time.Duration {
	full := math.Min(float64(maxRetryDelay.Milliseconds()), float64(firstRetryDelay.Milliseconds())*math.Pow(2, float64(failures-1)))
	return time.Duration(math.Floor(full/2+full/2*random)) * time.Millisecond
}

func holdFor(a answer, now time.Time) time.Duration {
	if a.status != http.StatusTooManyRequests && a.status != http.StatusServiceUnavailable {
		return 0
	}
	return min(maxRetryAfter, parseRetryAfter(a.retryAfter, now))
}

// parseRetryAfter reads a Retry-After header, as seconds or as a date; 0 when it says neither.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 63); err == nil {
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	moment, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, moment.Sub(now))
}

// serverError is the server's report on a request, or on one call in it.
type serverError struct {
	Index   *int   `json:"index"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func refusedError(a answer, attempts int) *Error {
	var said serverError
	// A body that is not JSON leaves it empty: the status says enough.
	_ = json.Unmarshal(a.body, &said)
	hint := said.Message
	if a.status >= 300 && a.status < 400 {
		hint = "redirects are not followed: set endpoint to the final URL"
	}
	message := "the server answered " + strconv.Itoa(a.status)
	if hint != "" {
		message += ": " + hint
	}
	return &Error{Code: CodeRefused, Status: a.status, ServerCode: said.Code, Attempts: attempts, message: message}
}

// rejectedCalls reads "rejected" of an answer's body. An unreadable body rejects nothing: the status already said that
// the batch was taken.
func rejectedCalls(body []byte) map[int]*Error {
	var said struct {
		Rejected []serverError `json:"rejected"`
	}
	if json.Unmarshal(body, &said) != nil {
		return nil
	}
	rejected := make(map[int]*Error, len(said.Rejected))
	for _, call := range said.Rejected {
		if call.Index == nil {
			continue
		}
		message := call.Message
		if message == "" {
			message = "the server did not take this call"
		}
		rejected[*call.Index] = &Error{Code: CodeRejected, ServerCode: call.Code, message: message}
	}
	return rejected
}
