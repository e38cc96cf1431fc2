// Million makes 1,000,000 Track calls from eight goroutines against a server that fails one request in ten, and ends with an
// error unless each call was delivered or handed to OnError, exactly once, within 200 MB.
//
//	go run ./million [calls]
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	analytics "posthaste.example/client-go"
)

const (
	goroutines = 8
	maxHeapMB  = 200
)

func main() {
	calls := 1_000_000
	if len(os.Args) > 1 {
		var err error
		if calls, err = strconv.Atoi(os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}
	arrived := make([]atomic.Bool, calls)
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Batch []struct{ Properties struct{ N int } }
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil {
			return
		}
		switch count := requests.Add(1); {
		case count%20 == 0:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case count%20 == 10:
			panic(http.ErrAbortHandler)
		}
		for _, call := range body.Batch {
			arrived[call.Properties.N].Store(true)
		}
		_, _ = io.WriteString(w, `{"success": true}`)
	}))
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)

	var delivered, handed atomic.Int64
	client, err := analytics.NewWithConfig("KEY", analytics.Config{
		Endpoint: server.URL, FlushAt: 100, CloseTimeout: 10 * time.Minute,
		OnSuccess: func(messages []json.RawMessage) { delivered.Add(int64(len(messages))) },
		OnError:   func(_ *analytics.Error, messages []json.RawMessage) { handed.Add(int64(len(messages))) },
	})
	if err != nil {
		log.Fatal(err)
	}
	began := time.Now()
	peak := makeCalls(client, calls)
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
	reached := 0
	for i := range arrived {
		if arrived[i].Load() {
			reached++
		}
	}
	fmt.Printf("%d calls in %.1f s: %d delivered, %d handed to OnError; %d reached the server in %d requests; heap at most %d MB\n",
		calls, time.Since(began).Seconds(), delivered.Load(), handed.Load(), reached, requests.Load(), peak)
	if delivered.Load()+handed.Load() != int64(calls) || int64(reached) != delivered.Load() || peak > maxHeapMB {
		log.Fatal("calls were lost, or memory was not bounded")
	}
}

// makeCalls returns the largest heap that was seen, in MB. Every so often a goroutine waits for its calls, as an import
// of historical data would; one that does not would find the queue full, and its calls in OnError.
func makeCalls(client *analytics.Client, calls int) uint64 {
	var wait sync.WaitGroup
	var peak atomic.Uint64
	for worker := range goroutines {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := worker; n < calls; n += goroutines {
				// A refusal here is a mistake of this program; a full queue is reported to OnError as well.
				_ = client.Track(&analytics.Track{UserId: "user-1", Event: "E", Properties: map[string]any{"n": n, "plan": "pro"}})
				if n/goroutines%5000 == 4999 {
					client.Flush()
					var memory runtime.MemStats
					runtime.ReadMemStats(&memory)
					peak.Store(max(peak.Load(), memory.HeapAlloc>>20))
				}
			}
		}()
	}
	wait.Wait()
	return peak.Load()
}
