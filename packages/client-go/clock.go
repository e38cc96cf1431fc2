package analytics

import "time"

// clock is what the client takes from time. Tests give their own.
type clock interface {
	Now() time.Time
	// AfterFunc calls f once after d, in a goroutine of its own, unless stop is called first.
	AfterFunc(d time.Duration, f func()) (stop func())
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// isoMillis is the form of every time that leaves this library.
const isoMillis = "2006-01-02T15:04:05.000Z"
