package analytics

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Calls come to their end exactly once, whatever the server and the program do. A and Q are the invariants of the sources.

func TestCloseSendsEverythingThatWasQueuedFromAllGoroutines(t *testing.T) {
	server := newTestServer(t)
	var handed collected
	config := Config{Endpoint: server.URL}
	handed.into(&config)
	client, err := NewWithConfig("KEY", config)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 16 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range 250 {
				if err := client.Track(&Track{UserId: "u1", Event: "E", Properties: map[string]any{"n": 1}}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wait.Wait()
	closeClient(t, client)
	ids := map[any]bool{}
	for _, message := range server.messages() {
		ids[message["messageId"]] = true
	}
	if len(ids) != 4000 || len(handed.delivered) != 4000 || len(handed.failures) != 0 {
		t.Errorf("got %d calls, %d delivered, %d failures; want 4000, 4000, 0", len(ids), len(handed.delivered), len(handed.failures))
	}
}

func TestCallsDuringCloseAreDeliveredOrReturned(t *testing.T) {
	for range 20 {
		server := newTestServer(t)
		var handed collected
		config := Config{Endpoint: server.URL, FlushAt: 3}
		handed.into(&config)
		client, err := NewWithConfig("KEY", config)
		if err != nil {
			t.Fatal(err)
		}
		var taken, returned atomic.Int64
		var wait sync.WaitGroup
		for range 8 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for range 50 {
					if client.Track(&Track{UserId: "u1", Event: "E"}) == nil {
						taken.Add(1)
					} else {
						returned.Add(1)
					}
				}
			}()
		}
		closeClient(t, client)
		wait.Wait()
		if got := int64(len(server.messages())); got != taken.Load() {
			t.Fatalf("got %d calls of the %d that were taken", got, taken.Load())
		}
		if got := int64(len(handed.failures)); got != returned.Load() {
			t.Fatalf("got %d calls handed to OnError of the %d that were returned", got, returned.Load())
		}
	}
}

func TestCloseHandsWhatIsLeftToOnErrorWhenItsTimeIsOver(t *testing.T) {
	arrived := make(chan struct{}, 10)
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	var handed collected
	config := Config{Endpoint: server.URL, FlushAt: 1, MaxInFlight: 2, CloseTimeout: 700 * time.Millisecond}
	handed.into(&config)
	clock := newFakeClock(t, testNow)
	client := newTestClient(t, config, clock)
	track(t, client, 3)
	<-arrived
	<-arrived
	closed := make(chan error)
	go func() { closed <- client.Close() }()
	eventually(t, func() string {
		if len(clock.pending()) == 0 {
			return "Close set no timer"
		}
		return ""
	})
	clock.advance(700 * time.Millisecond)
	var err *Error
	if got := <-closed; !errors.As(got, &err) || err.Code != CodeClosed {
		t.Errorf("got %v, want %s", got, CodeClosed)
	}
	ids := []string{}
	for _, failure := range handed.failures {
		if failure.err.Code != CodeClosed {
			t.Errorf("got %s, want %s", failure.err.Code, CodeClosed)
		}
		ids = append(ids, failure.ids...)
	}
	sort.Strings(ids)
	if want := []string{"ph-test-1", "ph-test-2", "ph-test-3"}; !reflect.DeepEqual(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
	if len(arrived) != 0 {
		t.Error("a request began after Close had given up")
	}
}

func TestAFullQueueHandsOverTheNewestCall(t *testing.T) {
	server, clock := newTestServer(t, testAnswer{Status: 503}, testAnswer{}), newFakeClock(t, testNow)
	var handed collected
	config := Config{Endpoint: server.URL, FlushAt: 1, MaxInFlight: 1, MaxQueueBytes: 550}
	handed.into(&config)
	client := newTestClient(t, config, clock)
	track(t, client, 3)
	for range 2 {
		var full *Error
		if err := client.Track(&Track{UserId: "u1", Event: "E"}); !errors.As(err, &full) || full.Code != CodeQueueFull {
			t.Errorf("got %v, want %s", err, CodeQueueFull)
		}
	}
	eventually(t, func() string {
		if len(clock.pending()) != 1 {
			return "the batch does not wait for its retry"
		}
		return ""
	})
	clock.advance(75 * time.Millisecond)
	client.Flush()
	if want := []string{"ph-test-1", "ph-test-2", "ph-test-3"}; !reflect.DeepEqual(handed.delivered, want) {
		t.Errorf("delivered %v, want %v", handed.delivered, want)
	}
	got := []string{}
	for _, failure := range handed.failures {
		got = append(got, failure.ids...)
	}
	if want := []string{"ph-test-4", "ph-test-5"}; !reflect.DeepEqual(got, want) {
		t.Errorf("handed over %v, want %v", got, want)
	}
}

func TestARetryAfterHoldsBackEveryBatch(t *testing.T) {
	held := testAnswer{Status: 429, Headers: map[string]string{"Retry-After": "20"}}
	server, clock := newTestServer(t, held, testAnswer{}), newFakeClock(t, testNow)
	client := newTestClient(t, Config{Endpoint: server.URL, FlushAt: 1}, clock)
	for _, want := range [][]time.Duration{{20 * time.Second}, {20 * time.Second, 20 * time.Second}} {
		track(t, client, 1)
		eventually(t, func() string {
			if !reflect.DeepEqual(clock.pending(), want) {
				return "the batches are not held"
			}
			return ""
		})
	}
	if got := len(server.received()); got != 1 {
		t.Errorf("got %d requests, want 1", got)
	}
	clock.advance(20 * time.Second)
	client.Flush()
	if got := len(server.messages()); got != 3 { // the first call twice
		t.Errorf("got %d calls, want 3", got)
	}
}

func TestARequestWithoutAnAnswerIsGivenUpAndMadeAgain(t *testing.T) {
	var requests atomic.Int64
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1) == 1 {
			<-release
		}
	}))
	defer server.Close()
	defer close(release)
	var handed collected
	config := Config{Endpoint: server.URL, FlushAt: 1, RequestTimeout: 50 * time.Millisecond}
	handed.into(&config)
	client, err := NewWithConfig("KEY", config)
	if err != nil {
		t.Fatal(err)
	}
	track(t, client, 1)
	closeClient(t, client)
	if requests.Load() != 2 || len(handed.delivered) != 1 {
		t.Errorf("got %d requests, %d delivered; want 2, 1", requests.Load(), len(handed.delivered))
	}
}

func TestGzipCompressesRequests(t *testing.T) {
	bodies := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reader, err := gzip.NewReader(r.Body)
		if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("got %v and encoding %q", err, r.Header.Get("Content-Encoding"))
			return
		}
		body, _ := io.ReadAll(reader)
		bodies <- body
	}))
	defer server.Close()
	client := newTestClient(t, Config{Endpoint: server.URL, Gzip: true}, newFakeClock(t, testNow))
	track(t, client, 20)
	client.Flush()
	var body struct{ Batch []json.RawMessage }
	if err := json.Unmarshal(<-bodies, &body); err != nil || len(body.Batch) != 20 {
		t.Errorf("got %d calls and %v", len(body.Batch), err)
	}
}

func TestRequestsShareTheirConnections(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"success": true}`)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := newTestClient(t, Config{Endpoint: server.URL, FlushAt: 1, MaxInFlight: 4}, newFakeClock(t, testNow))
	track(t, client, 200)
	closeClient(t, client)
	// A few more than four: a request may begin before net/http has put the last one's connection aside.
	if got := connections.Load(); got > 12 {
		t.Errorf("got %d connections for 200 requests, 4 at a time", got)
	}
}

func TestTheCallerMayChangeItsMapsAfterTheCall(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	properties := map[string]any{"step": 1}
	if err := client.Track(&Track{UserId: "u1", Event: "E", Properties: properties}); err != nil {
		t.Fatal(err)
	}
	properties["step"] = 2
	sent(t, client, server, map[string]any{"properties": map[string]any{"step": 1.0}})
}

func TestACallbackThatPanicsHarmsNoOtherCall(t *testing.T) {
	server := newTestServer(t, testAnswer{Status: 400}, testAnswer{})
	var lines bytes.Buffer
	client := newTestClient(t, Config{
		Endpoint: server.URL, FlushAt: 1, MaxInFlight: 1, Logger: log.New(&lines, "", 0),
		OnError:   func(*Error, []json.RawMessage) { panic("from OnError") },
		OnSuccess: func([]json.RawMessage) { panic("from OnSuccess") },
	}, newFakeClock(t, testNow))
	track(t, client, 2)
	closeClient(t, client)
	want := "analytics: OnError panicked: from OnError\nanalytics: OnSuccess panicked: from OnSuccess\n"
	if lines.String() != want {
		t.Errorf("got %q", lines.String())
	}
}

func TestWithoutOnErrorFailuresAreLoggedOncePerTenSeconds(t *testing.T) {
	server, clock := newTestServer(t, testAnswer{Status: 400}), newFakeClock(t, testNow)
	var lines bytes.Buffer
	client := newTestClient(t, Config{Endpoint: server.URL, FlushAt: 2, MaxInFlight: 1, Logger: log.New(&lines, "", 0)}, clock)
	track(t, client, 6)
	client.Flush()
	clock.advance(10 * time.Second)
	track(t, client, 1)
	client.Flush()
	want := "analytics: 2 calls were not delivered: the server answered 400\n" +
		"analytics: 5 calls were not delivered: the server answered 400\n"
	if lines.String() != want {
		t.Errorf("got %q", lines.String())
	}
}

func TestAConfigThatCannotBeUsedIsReturnedByEveryCall(t *testing.T) {
	for field, config := range map[string]Config{
		"Endpoint": {Endpoint: "localhost:8080"}, "FlushAt": {FlushAt: -1}, "FlushAfter": {FlushAfter: -1},
	} {
		_, err := NewWithConfig("KEY", config)
		var invalid *Error
		if !errors.As(err, &invalid) || invalid.Code != CodeInvalidOption || invalid.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
	client := New("")
	for _, err := range []error{client.Track(&Track{UserId: "u1", Event: "E"}), client.Close()} {
		if err == nil || !strings.Contains(err.Error(), "writeKey must be a non-empty string") {
			t.Errorf("got %v", err)
		}
	}
	client.Flush()
}

func TestANilMessageIsRefused(t *testing.T) {
	client := newTestClient(t, Config{}, newFakeClock(t, testNow))
	for _, err := range []error{
		client.Identify(nil), client.Track(nil), client.Page(nil), client.Group(nil), client.Alias(nil),
	} {
		if err == nil {
			t.Error("a nil message was taken")
		}
	}
}

func TestNoGoroutineIsLeftWhenThereIsNothingToSend(t *testing.T) {
	server := newTestServer(t)
	before := runtime.NumGoroutine()
	client := New("KEY")
	client.Endpoint = server.URL
	track(t, client, 500)
	closeClient(t, client)
	eventually(t, func() string {
		if after := runtime.NumGoroutine(); after > before {
			return "goroutines are left"
		}
		return ""
	})
}

// The short form of bench/million.
func TestAgainstAServerThatFailsOneRequestInTenNoCallIsLost(t *testing.T) {
	const calls = 20_000
	var requests atomic.Int64
	arrived := make([]atomic.Bool, calls)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Batch []struct{ Properties struct{ N int } }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		switch requests.Add(1) % 20 {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case 10:
			panic(http.ErrAbortHandler)
		}
		for _, call := range body.Batch {
			arrived[call.Properties.N].Store(true)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	var handed collected
	config := Config{Endpoint: server.URL, FlushAt: 100, MaxQueueBytes: 1 << 20}
	handed.into(&config)
	client, err := NewWithConfig("KEY", config)
	if err != nil {
		t.Fatal(err)
	}
	for n := range calls {
		// A full queue is told to OnError as well.
		_ = client.Track(&Track{UserId: "u1", Event: "E", Properties: map[string]any{"n": n}})
	}
	closeClient(t, client)
	reached, failed := 0, 0
	for i := range arrived {
		if arrived[i].Load() {
			reached++
		}
	}
	for _, failure := range handed.failures {
		failed += len(failure.ids)
	}
	if len(handed.delivered) != reached || reached+failed != calls || reached == 0 {
		t.Errorf("%d delivered, %d reached the server, %d failed; of %d", len(handed.delivered), reached, failed, calls)
	}
}
