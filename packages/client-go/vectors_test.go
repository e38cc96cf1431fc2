package analytics

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// The vectors that every client library of this project shares, run against a real server: test/vectors at the top of
// the repository.

type batchCase struct {
	Options struct{ FlushAt, Size, FlushAfter int }
	Steps   []struct {
		vectorCall
		Repeat        int
		AdvanceMs     int
		AwaitRequests int
		Flush, Close  bool
	}
	Requests []struct {
		Bytes    int
		Count    int
		SentAt   string
		Messages []map[string]any
	}
}

func TestVectorsOfBatches(t *testing.T) {
	forEachCase(t, "batches", runBatchCase)
}

// forEachCase runs each case of a file that is for Go. Cases of other languages may hold fields that have no place in
// C.
func forEachCase[C any](t *testing.T, name string, run func(t *testing.T, now string, vector C)) {
	var file struct {
		Now   string
		Cases []json.RawMessage
	}
	readVectors(t, name, &file)
	for _, raw := range file.Cases {
		var about struct {
			Name string
			Only []string
		}
		if err := json.Unmarshal(raw, &about); err != nil {
			t.Fatal(err)
		}
		if !isForGo(about.Only) {
			continue
		}
		var vector C
		if err := json.Unmarshal(raw, &vector); err != nil {
			t.Fatal(err)
		}
		t.Run(about.Name, func(t *testing.T) { run(t, file.Now, vector) })
	}
}

func runBatchCase(t *testing.T, now string, vector batchCase) {
	server, clock := newTestServer(t), newFakeClock(t, now)
	client := newTestClient(t, Config{
		Endpoint: server.URL, MaxInFlight: 1, FlushAt: vector.Options.FlushAt, Size: vector.Options.Size,
		FlushAfter: time.Duration(vector.Options.FlushAfter) * time.Millisecond,
	}, clock)
	for _, step := range vector.Steps {
		switch {
		case step.Call != "":
			for range max(step.Repeat, 1) {
				if err := step.makeOn(client); err != nil {
					t.Fatal(err)
				}
			}
		case step.AdvanceMs > 0:
			clock.advance(time.Duration(step.AdvanceMs) * time.Millisecond)
		case step.AwaitRequests > 0:
			eventually(t, func() string {
				if got := len(server.received()); got != step.AwaitRequests {
					return fmt.Sprintf("got %d requests, want %d", got, step.AwaitRequests)
				}
				return ""
			})
		case step.Flush:
			client.Flush()
		case step.Close:
			closeClient(t, client)
		}
	}
	closeClient(t, client)

	requests := server.received()
	if len(requests) != len(vector.Requests) {
		t.Fatalf("got %d requests, want %d", len(requests), len(vector.Requests))
	}
	for i, want := range vector.Requests {
		got := requests[i]
		if got.bytes != want.Bytes {
			t.Errorf("request %d: got %d bytes, want %d", i, got.bytes, want.Bytes)
		}
		if want.SentAt != "" && got.body.SentAt != want.SentAt {
			t.Errorf("request %d: got sentAt %s, want %s", i, got.body.SentAt, want.SentAt)
		}
		if want.Messages == nil && len(got.body.Batch) != want.Count {
			t.Errorf("request %d: got %d calls, want %d", i, len(got.body.Batch), want.Count)
		}
		if want.Messages != nil && !reflect.DeepEqual(got.body.Batch, want.Messages) {
			t.Errorf("request %d:\n got %v\nwant %v", i, got.body.Batch, want.Messages)
		}
		if got.keys != 2 {
			t.Errorf("request %d: got %d keys beside one another in the body, want batch and sentAt", i, got.keys)
		}
	}
}

func TestVectorsOfRefusals(t *testing.T) {
	type refusalCase struct {
		vectorCall
		Error struct{ Code, Field, Message string }
	}
	forEachCase(t, "refusals", func(t *testing.T, now string, vector refusalCase) {
		server := newTestServer(t)
		client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, now))
		var refusal *Error
		if err := vector.makeOn(client); !errors.As(err, &refusal) {
			t.Fatalf("got %v, want an *Error", err)
		}
		got := [3]string{string(refusal.Code), refusal.Field, refusal.Message()}
		if want := [3]string{vector.Error.Code, vector.Error.Field, vector.Error.Message}; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		closeClient(t, client)
		if requests := server.received(); len(requests) != 0 {
			t.Errorf("got %d requests, want none", len(requests))
		}
	})
}

type retryCase struct {
	Name      string
	Options   struct{ MaxAttempts int }
	Calls     int
	Answers   []testAnswer
	DelaysMs  []int
	SentAt    []string
	Delivered []string
	Errors    []struct {
		Code, Message, ServerCode string
		Status, Attempts          int
		Messages                  []string
	}
}

func TestVectorsOfRetries(t *testing.T) {
	var file struct {
		Now   string
		Cases []retryCase
	}
	readVectors(t, "retries", &file)
	for _, vector := range file.Cases {
		t.Run(vector.Name, func(t *testing.T) { runRetryCase(t, file.Now, vector) })
	}
}

func runRetryCase(t *testing.T, now string, vector retryCase) {
	server, clock := newTestServer(t, vector.Answers...), newFakeClock(t, now)
	// No flush by time, so that only the retries have timers on the clock.
	config := Config{Endpoint: server.URL, FlushAt: vector.Calls, FlushAfter: 24 * time.Hour, MaxAttempts: vector.Options.MaxAttempts}
	var handed collected
	handed.into(&config)
	client := newTestClient(t, config, clock)
	for range vector.Calls {
		if err := client.Track(&Track{UserId: "u1", Event: "E"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, delayMs := range vector.DelaysMs {
		want := []time.Duration{time.Duration(delayMs) * time.Millisecond}
		eventually(t, func() string {
			if got := clock.pending(); !reflect.DeepEqual(got, want) {
				return fmt.Sprintf("got delays of %v, want %v", got, want)
			}
			return ""
		})
		clock.advance(want[0])
	}
	client.Flush()

	if !reflect.DeepEqual(append([]string{}, handed.delivered...), vector.Delivered) {
		t.Errorf("delivered %v, want %v", handed.delivered, vector.Delivered)
	}
	if len(handed.failures) != len(vector.Errors) {
		t.Fatalf("got %d errors, want %d", len(handed.failures), len(vector.Errors))
	}
	for _, want := range vector.Errors {
		expected := Error{Code: Code(want.Code), Status: want.Status, ServerCode: want.ServerCode, Attempts: want.Attempts, message: want.Message}
		if !handed.has(expected, want.Messages) {
			t.Errorf("no error %+v of %v in %+v", expected, want.Messages, handed.failures)
		}
	}
	requests := server.received()
	if len(requests) != len(vector.DelaysMs)+1 {
		t.Errorf("got %d requests, want %d", len(requests), len(vector.DelaysMs)+1)
	}
	for i, want := range vector.SentAt {
		if got := requests[i].body.SentAt; got != want {
			t.Errorf("request %d: got sentAt %s, want %s", i, got, want)
		}
	}
}

// has reports whether the error was handed over with these calls, whatever its cause is.
func (c *collected) has(err Error, ids []string) bool {
	for _, failure := range c.failures {
		got := *failure.err
		got.cause = nil
		if got == err && reflect.DeepEqual(failure.ids, ids) {
			return true
		}
	}
	return false
}

func closeClient(t *testing.T, client *Client) {
	t.Helper()
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}
