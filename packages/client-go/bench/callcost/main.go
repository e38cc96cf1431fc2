// Callcost measures the cost of a Track call to the goroutine that makes it, here and in analytics-go/v3, in one run on
// one machine: each library with its defaults, against a server that takes everything. It prints the ratio.
//
//	go run ./callcost
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sort"
	"time"

	segment "github.com/segmentio/analytics-go/v3"
	analytics "posthaste.example/client-go"
)

const rounds = 11

// load is a way of calling: bursts of so many calls, with a pause between that gives each library time to send.
type load struct {
	name   string
	bursts int
	burst  int
	pause  time.Duration
}

var loads = []load{
	{"a call now and then", 400, 10, 2 * time.Millisecond},
	{"a flood", 1, 50_000, 0},
}

// library starts a client and answers its Track call and the end of the client.
type library struct {
	name  string
	start func(endpoint string) (track func(int), end func())
}

var libraries = []library{
	{"client-go", func(endpoint string) (func(int), func()) {
		client, err := analytics.NewWithConfig("KEY", analytics.Config{Endpoint: endpoint, MaxQueueBytes: 1 << 30})
		check(err)
		return func(n int) {
			check(client.Track(&analytics.Track{
				UserId: "user-1", Event: "Order Completed",
				Properties: map[string]any{"revenue": 39.95, "sku": "A-1", "plan": "pro", "items": n},
			}))
		}, func() { check(client.Close()) }
	}},
	{"analytics-go/v3", func(endpoint string) (func(int), func()) {
		client, err := segment.NewWithConfig("KEY", segment.Config{Endpoint: endpoint})
		check(err)
		return func(n int) {
			check(client.Enqueue(segment.Track{
				UserId: "user-1", Event: "Order Completed",
				Properties: segment.Properties{"revenue": 39.95, "sku": "A-1", "plan": "pro", "items": n},
			}))
		}, func() { check(client.Close()) }
	}},
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"success": true}`)
	}))
	defer server.Close()
	for _, load := range loads {
		costs := map[string][]time.Duration{}
		for range rounds { // in turn, so that a disturbance of the machine meets both
			for _, library := range libraries {
				costs[library.name] = append(costs[library.name], measure(library, load, server.URL))
			}
		}
		ours, theirs := median(costs[libraries[0].name]), median(costs[libraries[1].name])
		fmt.Printf("%-20s  %s %6d ns   %s %6d ns   ratio %.2f\n", load.name,
			libraries[0].name, ours.Nanoseconds(), libraries[1].name, theirs.Nanoseconds(), float64(ours)/float64(theirs))
	}
}

// measure returns the time of one call: the time of all bursts, without the pauses.
func measure(library library, load load, endpoint string) time.Duration {
	track, end := library.start(endpoint)
	defer end()
	var total time.Duration
	for range load.bursts {
		began := time.Now()
		for n := range load.burst {
			track(n)
		}
		total += time.Since(began)
		time.Sleep(load.pause)
	}
	return total / time.Duration(load.bursts*load.burst)
}

func median(values []time.Duration) time.Duration {
	sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
	return values[len(values)/2]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
