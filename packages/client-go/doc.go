// Package analytics sends identify, track, page, group and alias calls to Posthaste.
//
// A call is checked and written as JSON at once, queued in memory, and sent in the background in batches:
//
//	client := analytics.New("WRITE_KEY")
//	defer client.Close()
//	err := client.Track(&analytics.Track{UserId: "u1", Event: "Order Completed"})
//
// A call returns an error when it was not queued: it lacks a required field, or is too large. A queued call is
// delivered or handed to Config.OnError, once. All methods may be used from many goroutines at a time.
package analytics
