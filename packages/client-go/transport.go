package analytics

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxAnswerBytes of an answer are read; the server's are a few hundred, and a list of rejected calls a few thousand.
const maxAnswerBytes = 1 << 20

// newTransport keeps as many connections alive as there are requests at a time; Go's default keeps two.
func newTransport(maxInFlight int) http.RoundTripper {
	transport, isDefault := http.DefaultTransport.(*http.Transport)
	if !isDefault {
		return http.DefaultTransport // the program replaced it, for all of its requests
	}
	own := transport.Clone()
	own.MaxIdleConnsPerHost = maxInFlight
	return own
}

// sender makes requests to one endpoint.
type sender struct {
	client        *http.Client
	url           string
	authorization string
	config        *Config
}

func newSender(writeKey string, config *Config) *sender {
	return &sender{
		client: &http.Client{
			Transport: config.Transport,
			// A redirected POST would arrive as a GET, or give the write key to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		url:           config.Endpoint + "/v1/batch",
		authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte(writeKey+":")),
		config:        config,
	}
}

// send makes one request and returns its result. Ending ctx makes it a failure at once.
func (s *sender) send(ctx context.Context, text []byte, tail string) answer {
	timeout := fmt.Errorf("no answer within %v", s.config.RequestTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.RequestTimeout, timeout)
	defer cancel()
	request, err := s.newRequest(ctx, text, tail)
	if err != nil {
		return answer{failure: err}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return answer{failure: firstOf(context.Cause(ctx), err)}
	}
	defer response.Body.Close()
	// Read to its end in any case: a connection is used again only after that.
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return answer{failure: firstOf(context.Cause(ctx), err)}
	}
	return answer{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After"), body: body}
}

func (s *sender) newRequest(ctx context.Context, text []byte, tail string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, nil)
	if err != nil {
		return nil, err
	}
	header := request.Header
	header.Set("Authorization", s.authorization)
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "posthaste-go/0.1.0")
	getBody := func() io.Reader { return io.MultiReader(bytes.NewReader(text), strings.NewReader(tail)) }
	request.ContentLength = int64(len(text) + len(tail))
	if s.config.Gzip {
		compressed := compress(getBody())
		getBody = func() io.Reader { return bytes.NewReader(compressed) }
		request.ContentLength = int64(len(compressed))
		header.Set("Content-Encoding", "gzip")
	}
	// With GetBody, net/http itself repeats a request that met a connection which the server had just closed.
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(getBody()), nil }
	request.Body = io.NopCloser(getBody())
	return request, nil
}

func compress(reader io.Reader) []byte {
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	// Neither can fail: both ends are memory.
	_, _ = io.Copy(writer, reader)
	_ = writer.Close()
	return buffer.Bytes()
}

func firstOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
