package analytics

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"reflect"
	"strings"
	"testing"
	"time"
)

// One test for each row of the product's tables about the client library, against a real server.

const testNow = "2026-11-21T03:04:05.678Z"

func awaitBatches(t *testing.T, server *testServer, sizes ...int) {
	t.Helper()
	eventually(t, func() string {
		got := []int{}
		for _, request := range server.received() {
			got = append(got, len(request.body.Batch))
		}
		if !reflect.DeepEqual(got, sizes) {
			return fmt.Sprintf("got batches of %v, want %v", got, sizes)
		}
		return ""
	})
}

func track(t *testing.T, client *Client, times int) {
	t.Helper()
	for range times {
		if err := client.Track(&Track{UserId: "u1", Event: "E"}); err != nil {
			t.Fatal(err)
		}
	}
}

// sent flushes, and checks that the one message that arrived holds the wanted fields, beside the fields of every
// message.
func sent(t *testing.T, client *Client, server *testServer, want map[string]any) {
	t.Helper()
	client.Flush()
	messages := server.messages()
	if len(messages) != 1 {
		t.Fatalf("got %d messages, want one", len(messages))
	}
	for key, value := range want {
		if got := messages[0][key]; !reflect.DeepEqual(got, value) {
			t.Errorf("%s: got %v, want %v", key, got, value)
		}
	}
}

func TestNewHasTheDefaultsOfTheProduct(t *testing.T) {
	t.Run("it flushes at 20 queued calls", func(t *testing.T) {
		server, clock := newTestServer(t), newFakeClock(t, testNow)
		client := newTestClient(t, Config{Endpoint: server.URL}, clock)
		track(t, client, 19)
		if got := clock.pending(); !reflect.DeepEqual(got, []time.Duration{5 * time.Second}) {
			t.Errorf("got timers %v after 19 calls, want the flush in 5 s", got)
		}
		track(t, client, 1)
		awaitBatches(t, server, 20)
	})

	t.Run("it flushes 5 seconds after the last flush", func(t *testing.T) {
		server, clock := newTestServer(t), newFakeClock(t, testNow)
		track(t, newTestClient(t, Config{Endpoint: server.URL}, clock), 1)
		clock.advance(4999 * time.Millisecond)
		if got := clock.pending(); len(got) != 1 {
			t.Errorf("got timers %v, want the flush still to come", got)
		}
		clock.advance(time.Millisecond)
		awaitBatches(t, server, 1)
	})

	t.Run("its fields are set after New, as in version 2", func(t *testing.T) {
		server := newTestServer(t)
		client := New("KEY")
		client.Endpoint = server.URL
		client.Size = 2
		track(t, client, 2)
		awaitBatches(t, server, 2)
		closeClient(t, client)
	})
}

func TestIdentifyIsQueuedWithItsTraits(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	if err := client.Identify(&Identify{UserId: "u1", Traits: map[string]any{"email": "e@x.test", "age": 29}}); err != nil {
		t.Fatal(err)
	}
	sent(t, client, server, map[string]any{
		"type": "identify", "userId": "u1", "traits": map[string]any{"email": "e@x.test", "age": 29.0},
	})
}

func TestTrackIsQueuedWithEventPropertiesAndIntegrations(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	err := client.Track(&Track{
		UserId: "u1", Event: "Paid", Properties: map[string]any{"revenue": 39.95}, Integrations: map[string]any{"Webhooks": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	sent(t, client, server, map[string]any{
		"type": "track", "userId": "u1", "event": "Paid",
		"properties": map[string]any{"revenue": 39.95}, "integrations": map[string]any{"Webhooks": true},
	})
}

func TestPageIsQueuedWithAllItsFields(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	err := client.Page(&Page{
		UserId: "u1", AnonymousId: "a1", Category: "Docs", Name: "Index",
		Traits:    map[string]any{"url": "https://x.test/d", "title": "D", "referrer": "https://r.test", "path": "/d", "custom": 1},
		Timestamp: "2012-12-02T00:30:08.276Z",
		Context:   map[string]any{"locale": "en-GB"},
	})
	if err != nil {
		t.Fatal(err)
	}
	sent(t, client, server, map[string]any{
		"type": "page", "userId": "u1", "anonymousId": "a1", "category": "Docs", "name": "Index",
		"properties": map[string]any{
			"url": "https://x.test/d", "title": "D", "referrer": "https://r.test", "path": "/d", "custom": 1.0,
		},
		"timestamp": "2012-12-02T00:30:08.276Z",
		"context":   map[string]any{"locale": "en-GB", "library": map[string]any{"name": "posthaste-go", "version": "0.1.0"}},
	})
}

func TestGroupIsQueuedWithItsIdAndTraits(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	err := client.Group(&Group{UserId: "u1", GroupId: "g1", Traits: map[string]any{"name": "Initech", "total billed": 830}})
	if err != nil {
		t.Fatal(err)
	}
	sent(t, client, server, map[string]any{
		"type": "group", "userId": "u1", "groupId": "g1", "traits": map[string]any{"name": "Initech", "total billed": 830.0},
	})
}

func TestAliasIsQueuedWithBothIds(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	if err := client.Alias(&Alias{UserId: "u1", PreviousId: "a1"}); err != nil {
		t.Fatal(err)
	}
	sent(t, client, server, map[string]any{"type": "alias", "userId": "u1", "previousId": "a1"})
}

func TestACallThatLacksWhatItNeedsIsRefused(t *testing.T) {
	client := newTestClient(t, Config{}, newFakeClock(t, testNow))
	for rule, call := range map[string]func() error{
		"identify needs a userId or an anonymousId": func() error { return client.Identify(&Identify{}) },
		"track needs an event":                      func() error { return client.Track(&Track{UserId: "u1"}) },
		"track needs a userId or an anonymousId":    func() error { return client.Track(&Track{Event: "E"}) },
		"page needs a userId or an anonymousId":     func() error { return client.Page(&Page{}) },
		"group needs a userId or an anonymousId":    func() error { return client.Group(&Group{GroupId: "g1"}) },
		"group needs a groupId":                     func() error { return client.Group(&Group{UserId: "u1"}) },
		"alias needs a previousId":                  func() error { return client.Alias(&Alias{UserId: "u1"}) },
	} {
		t.Run(rule, func(t *testing.T) {
			var refusal *Error
			if err := call(); !errors.As(err, &refusal) || refusal.Code != CodeMissingField || refusal.Message() != rule {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSizeAndFlushAtAreTheCountThatTriggersAFlush(t *testing.T) {
	for name, config := range map[string]Config{
		"Size": {Size: 2}, "FlushAt": {FlushAt: 2}, "the smaller of both": {Size: 2, FlushAt: 100},
	} {
		t.Run(name, func(t *testing.T) {
			server := newTestServer(t)
			config.Endpoint = server.URL
			track(t, newTestClient(t, config, newFakeClock(t, testNow)), 4)
			awaitBatches(t, server, 2, 2)
		})
	}
}

func TestEndpointIsWhereRequestsGo(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL + "/behind/a/proxy/"}, newFakeClock(t, testNow))
	track(t, client, 1)
	client.Flush()
	if got := server.received()[0].path; got != "POST /behind/a/proxy/v1/batch" {
		t.Errorf("got %s", got)
	}
}

func TestFlushAfterIsTheTimeSinceTheLastFlush(t *testing.T) {
	server, clock := newTestServer(t), newFakeClock(t, testNow)
	track(t, newTestClient(t, Config{Endpoint: server.URL, FlushAfter: 250 * time.Millisecond}, clock), 1)
	clock.advance(250 * time.Millisecond)
	awaitBatches(t, server, 1)
}

func TestCallsAreSentInBatchesAndNotOneByOne(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	track(t, client, 100)
	client.Flush()
	if requests, messages := len(server.received()), len(server.messages()); requests != 5 || messages != 100 {
		t.Errorf("got %d requests with %d calls, want 5 with 100", requests, messages)
	}
}

func TestBehaviour1SizeOneFlushesOnEveryMessage(t *testing.T) {
	server := newTestServer(t)
	track(t, newTestClient(t, Config{Endpoint: server.URL, Size: 1}, newFakeClock(t, testNow)), 3)
	awaitBatches(t, server, 1, 1, 1)
}

func TestBehaviour2FlushAtOneSendsAtOnce(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL, FlushAt: 1}, newFakeClock(t, testNow))
	track(t, client, 1)
	awaitBatches(t, server, 1)
	track(t, client, 1)
	awaitBatches(t, server, 1, 1)
}

func TestBehaviour3DebugEnablesTheRuntimeLog(t *testing.T) {
	for value, wantsLog := range map[string]bool{"analytics": true, "other,analytics": true, "other": false, "": false} {
		t.Run("DEBUG="+value, func(t *testing.T) {
			t.Setenv("DEBUG", value)
			var lines bytes.Buffer
			server := newTestServer(t)
			client := newTestClient(t, Config{Endpoint: server.URL, Logger: log.New(&lines, "", 0)}, newFakeClock(t, testNow))
			track(t, client, 1)
			closeClient(t, client)
			hasLog := strings.Contains(lines.String(), "analytics: queued track") &&
				strings.Contains(lines.String(), "analytics: delivered 1")
			if hasLog != wantsLog || (!wantsLog && lines.Len() > 0) {
				t.Errorf("got %q", lines.String())
			}
		})
	}
}

func TestBehaviour4TimestampImportsHistoricalData(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	past := "2012-12-02T00:30:08.276Z"
	if err := client.Track(&Track{UserId: "u1", Event: "E", Timestamp: past}); err != nil {
		t.Fatal(err)
	}
	track(t, client, 1)
	client.Flush()
	if got := server.messages(); got[0]["timestamp"] != past || got[1]["timestamp"] != testNow {
		t.Errorf("got %v and %v, want %s and the time of the call", got[0]["timestamp"], got[1]["timestamp"], past)
	}
}

func TestIntegrationsAreTakenOnAllFiveCalls(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	integrations := map[string]any{"All": false, "Webhooks": true}
	for _, err := range []error{
		client.Alias(&Alias{UserId: "u1", PreviousId: "a1", Integrations: integrations}),
		client.Group(&Group{UserId: "u1", GroupId: "g1", Integrations: integrations}),
		client.Identify(&Identify{UserId: "u1", Integrations: integrations}),
		client.Page(&Page{UserId: "u1", Integrations: integrations}),
		client.Track(&Track{UserId: "u1", Event: "E", Integrations: integrations}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	client.Flush()
	messages := server.messages()
	if len(messages) != 5 {
		t.Fatalf("got %d messages", len(messages))
	}
	for _, message := range messages {
		if !reflect.DeepEqual(message["integrations"], integrations) {
			t.Errorf("%v: got %v", message["type"], message["integrations"])
		}
	}
}

func TestTheWriteKeyIsTheUserNameOfBasicAuthentication(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL}, newFakeClock(t, testNow))
	track(t, client, 1)
	client.Flush()
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("KEY:"))
	if got := server.received()[0].header.Get("Authorization"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestABatchRequestIsAtMost500KB(t *testing.T) {
	server := newTestServer(t)
	client := newTestClient(t, Config{Endpoint: server.URL, FlushAt: 100}, newFakeClock(t, testNow))
	for range 40 {
		if err := client.Track(&Track{UserId: "u1", Event: "E", Properties: map[string]any{"text": strings.Repeat("x", 30_000)}}); err != nil {
			t.Fatal(err)
		}
	}
	client.Flush()
	if got := len(server.messages()); got != 40 {
		t.Errorf("got %d calls, want 40", got)
	}
	for _, request := range server.received() {
		if request.bytes > 500_000 {
			t.Errorf("got a request of %d bytes", request.bytes)
		}
	}
}

func TestASingleCallIsAtMost32KB(t *testing.T) {
	client := newTestClient(t, Config{}, newFakeClock(t, testNow))
	err := client.Track(&Track{UserId: "u1", Event: "E", Properties: map[string]any{"text": strings.Repeat("x", 32<<10)}})
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != CodeCallTooLarge {
		t.Errorf("got %v, want %s", err, CodeCallTooLarge)
	}
}
