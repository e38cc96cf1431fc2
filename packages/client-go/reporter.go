package analytics

import (
	"encoding/json"
	"sync"
	"time"
)

// warningInterval: without OnError a failure is logged, at most one line in this time with the count of all since the last,
// so that an outage does not fill a disk.
const warningInterval = 10 * time.Second

// reporter reports the fate of the program's calls. A callback's panic stays here: it is the program's fault and must
// not cost other calls.
type reporter struct {
	config  *Config
	clock   clock
	isDebug bool

	mu          sync.Mutex
	nextWarning time.Time
	unreported  int
}

func (r *reporter) debugf(format string, values ...any) {
	r.config.Logger.Printf("analytics: "+format, values...)
}

// settled reports a batch that came to its end: failed as a whole, or delivered but for the rejected calls.
func (r *reporter) settled(b *batch, failed *Error, rejected map[int]*Error) {
	if failed != nil {
		r.failed(failed, len(b.ends), func() []json.RawMessage { return b.messages(func(int) bool { return true }) })
		return
	}
	r.delivered(b, rejected)
	for index, err := range rejected {
		if index >= 0 && index < len(b.ends) {
			r.failed(err, 1, func() []json.RawMessage { return b.messages(func(i int) bool { return i == index }) })
		}
	}
}

func (r *reporter) delivered(b *batch, rejected map[int]*Error) {
	if r.isDebug {
		r.debugf("delivered %d, rejected %d", len(b.ends)-len(rejected), len(rejected))
	}
	if r.config.OnSuccess == nil {
		return
	}
	messages := b.messages(func(i int) bool { return rejected[i] == nil })
	if len(messages) > 0 {
		r.call("OnSuccess", func() { r.config.OnSuccess(messages) })
	}
}

// failed reports calls that were not delivered and will not be tried again. messages is called only when someone listens.
func (r *reporter) failed(err *Error, count int, messages func() []json.RawMessage) {
	if r.isDebug {
		r.debugf("gave up %d: %s, %s", count, err.Code, err.message)
	}
	if r.config.OnError != nil {
		r.call("OnError", func() { r.config.OnError(err, messages()) })
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unreported += count
	if now := r.clock.Now(); !now.Before(r.nextWarning) {
		r.config.Logger.Printf("analytics: %d calls were not delivered: %s", r.unreported, err.message)
		r.unreported = 0
		r.nextWarning = now.Add(warningInterval)
	}
}

func (r *reporter) call(name string, callback func()) {
	defer func() {
		if reason := recover(); reason != nil {
			r.config.Logger.Printf("analytics: %s panicked: %v", name, reason)
		}
	}()
	callback()
}
