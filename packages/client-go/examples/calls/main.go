// Calls makes one call of each kind, and then as many Track calls as it is told to.
//
//	go run ./examples/calls http://127.0.0.1:8080 WRITE_KEY [tracks]
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"

	analytics "posthaste.example/client-go"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: calls ENDPOINT WRITE_KEY [tracks]")
	}
	tracks := 0
	if len(os.Args) > 3 {
		var err error
		if tracks, err = strconv.Atoi(os.Args[3]); err != nil {
			log.Fatal(err)
		}
	}
	if err := run(os.Args[1], os.Args[2], tracks); err != nil {
		log.Fatal(err)
	}
}

func run(endpoint, writeKey string, tracks int) error {
	client := analytics.New(writeKey)
	client.Endpoint = endpoint
	client.OnError = func(err *analytics.Error, messages []json.RawMessage) {
		fmt.Printf("%d calls: %s %v\n", len(messages), err.Code, err)
	}
	timestamp := "2026-05-04T03:02:01.123Z"
	for _, err := range []error{
		client.Identify(&analytics.Identify{UserId: "ada", Traits: map[string]any{"email": "ada@example.com", "logins": 5}, Timestamp: timestamp}),
		client.Track(&analytics.Track{UserId: "ada", Event: "Order Completed", Properties: map[string]any{"revenue": 39.95}, Timestamp: timestamp}),
		client.Page(&analytics.Page{UserId: "ada", Name: "Academy", Traits: map[string]any{"path": "/academy/"}, Timestamp: timestamp}),
		client.Group(&analytics.Group{UserId: "ada", GroupId: "initech", Traits: map[string]any{"total billed": 830}, Timestamp: timestamp}),
		client.Alias(&analytics.Alias{UserId: "ada", PreviousId: "anonymous-1", Timestamp: timestamp}),
	} {
		if err != nil {
			return err
		}
	}
	for n := range tracks {
		if err := client.Track(&analytics.Track{UserId: "user-" + strconv.Itoa(n%50), Event: "E", Properties: map[string]any{"n": n}}); err != nil {
			return err
		}
	}
	return client.Close()
}
