package analytics

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeClock stands still until a test moves it.
type fakeClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*fakeTimer
}

type fakeTimer struct {
	due time.Time
	f   func()
}

func newFakeClock(t *testing.T, now string) *fakeClock {
	t.Helper()
	moment, err := time.Parse(isoMillis, now)
	if err != nil {
		t.Fatal(err)
	}
	return &fakeClock{now: moment}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) AfterFunc(d time.Duration, f func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	timer := &fakeTimer{due: c.now.Add(d), f: f}
	c.timers = append(c.timers, timer)
	sort.SliceStable(c.timers, func(i, j int) bool { return c.timers[i].due.Before(c.timers[j].due) })
	return func() { c.remove(timer) }
}

func (c *fakeClock) remove(timer *fakeTimer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.timers {
		if other == timer {
			c.timers = append(c.timers[:i:i], c.timers[i+1:]...)
			return
		}
	}
}

// advance lets time pass, and calls the timers that come due in the order of their moments.
func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.mu.Unlock()
	for {
		c.mu.Lock()
		if len(c.timers) == 0 || c.timers[0].due.After(c.now) {
			c.mu.Unlock()
			return
		}
		timer := c.timers[0]
		c.timers = c.timers[1:]
		c.mu.Unlock()
		timer.f()
	}
}

// pending returns how far off the timers are that wait, soonest first. Those that are hours off are of no interest.
func (c *fakeClock) pending() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	delays := []time.Duration{}
	for _, timer := range c.timers {
		if delay := timer.due.Sub(c.now); delay < time.Hour {
			delays = append(delays, delay)
		}
	}
	return delays
}

// testAnswer is the behaviour of a testServer for one request.
type testAnswer struct {
	Status  int
	Headers map[string]string
	Body    string
	Reset   bool
}

type testRequest struct {
	header http.Header
	path   string
	bytes  int
	body   struct {
		SentAt string
		Batch  []map[string]any
	}
	keys int // of the envelope
}

// testServer is a real server on this machine that keeps its requests and gives its answers in turn, the last one for
// ever.
type testServer struct {
	*httptest.Server
	mu       sync.Mutex
	answers  []testAnswer
	requests []testRequest
}

func newTestServer(t *testing.T, answers ...testAnswer) *testServer {
	t.Helper()
	if len(answers) == 0 {
		answers = []testAnswer{{Body: `{"success": true}`}}
	}
	s := &testServer{answers: answers}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	// Resets are the tests' own doing.
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *testServer) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	request := testRequest{header: r.Header, path: r.Method + " " + r.URL.Path, bytes: len(body)}
	envelope := map[string]any{}
	if json.Unmarshal(body, &request.body) == nil && json.Unmarshal(body, &envelope) == nil {
		request.keys = len(envelope)
	}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	answer := s.answers[min(len(s.requests), len(s.answers))-1]
	s.mu.Unlock()
	if answer.Reset {
		panic(http.ErrAbortHandler)
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	if answer.Status != 0 {
		w.WriteHeader(answer.Status)
	}
	_, _ = io.WriteString(w, answer.Body)
}

func (s *testServer) received() []testRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]testRequest(nil), s.requests...)
}

// messages returns all calls that arrived, in the order of their requests.
func (s *testServer) messages() []map[string]any {
	messages := []map[string]any{}
	for _, request := range s.received() {
		messages = append(messages, request.body.Batch...)
	}
	return messages
}

// collected holds the arguments of the callbacks.
type collected struct {
	mu        sync.Mutex
	delivered []string
	failures  []failure
}

type failure struct {
	err *Error
	ids []string
}

func (c *collected) into(config *Config) {
	config.OnSuccess = func(messages []json.RawMessage) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.delivered = append(c.delivered, messageIDs(messages)...)
	}
	config.OnError = func(err *Error, messages []json.RawMessage) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failures = append(c.failures, failure{err, messageIDs(messages)})
	}
}

func messageIDs(messages []json.RawMessage) []string {
	ids := make([]string, 0, len(messages))
	for _, message := range messages {
		var call struct{ MessageId string }
		if err := json.Unmarshal(message, &call); err != nil {
			panic(err) // a callback that panics is logged, and the test misses its ids
		}
		ids = append(ids, call.MessageId)
	}
	return ids
}

// newTestClient returns a client whose clock is the test's, whose chance is 0.5 and whose message ids begin with ph-test-.
func newTestClient(t *testing.T, config Config, clock clock) *Client {
	t.Helper()
	client := &Client{writeKey: "KEY", Config: config, clock: clock, idPrefix: "ph-test-"}
	if err := client.start(); err != nil {
		t.Fatal(err)
	}
	client.queue.random = func() float64 { return 0.5 }
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// eventually looks again and again until check answers "", and fails with its last answer.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for complaint := check(); complaint != ""; complaint = check() {
		if time.Now().After(deadline) {
			t.Fatal(complaint)
		}
		time.Sleep(time.Millisecond)
	}
}

// readVectors reads a file of test/vectors at the top of the repository, with "$text" and "$library" written out.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "test", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file any
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	expanded, err := json.Marshal(expand(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(expanded, into); err != nil {
		t.Fatal(err)
	}
}

func expand(value any) any {
	switch v := value.(type) {
	case string:
		if v == "$library" {
			return json.RawMessage(libraryJSON)
		}
	case []any:
		for i := range v {
			v[i] = expand(v[i])
		}
	case map[string]any:
		if text, isText := v["$text"].(string); isText {
			return strings.Repeat(text, int(v["times"].(float64)))
		}
		for key := range v {
			v[key] = expand(v[key])
		}
	}
	return value
}

// isForGo reports whether a vector's case is for this language.
func isForGo(only []string) bool {
	if only == nil {
		return true
	}
	for _, language := range only {
		if language == "go" {
			return true
		}
	}
	return false
}

// vectorCall is a call of a vector, as its JSON names the fields.
type vectorCall struct {
	Call string
	With struct {
		UserId, AnonymousId, PreviousId, GroupId, Event, Category, Name, Timestamp, MessageId string

		Traits, Properties, Context, Integrations map[string]any
	}
}

func (v vectorCall) makeOn(client *Client) error {
	w := v.With
	switch v.Call {
	case "identify":
		return client.Identify(&Identify{w.UserId, w.AnonymousId, w.Traits, w.Context, w.Integrations, w.Timestamp, w.MessageId})
	case "track":
		return client.Track(&Track{w.UserId, w.AnonymousId, w.Event, w.Properties, w.Context, w.Integrations, w.Timestamp, w.MessageId})
	case "page":
		return client.Page(&Page{w.UserId, w.AnonymousId, w.Category, w.Name, w.Properties, w.Context, w.Integrations, w.Timestamp, w.MessageId})
	case "group":
		return client.Group(&Group{w.UserId, w.AnonymousId, w.GroupId, w.Traits, w.Context, w.Integrations, w.Timestamp, w.MessageId})
	default:
		return client.Alias(&Alias{w.UserId, w.PreviousId, w.Context, w.Integrations, w.Timestamp, w.MessageId})
	}
}
