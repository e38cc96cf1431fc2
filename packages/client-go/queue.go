package analytics

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// queue owns every batch that was closed and has not come to its end: delivered, or handed to OnError.
//
//   - A call comes to its end exactly once.
//   - Batches are begun in the order in which they were closed, and at most MaxInFlight are between their first request
//     and their end. A batch that waits for its retry keeps its place, so a server that is down hears from few.
//   - A Retry-After holds back all batches, since it is the client as a whole that was too much.
//   - After abandon no request begins, and every batch comes to its end at once.
//   - Goroutines exist only while there is something to send.
type queue struct {
	config   *Config
	clock    clock
	random   func() float64
	sender   *sender
	reporter *reporter
	onEnd    func(*batch)
	ctx      context.Context
	abandon  context.CancelFunc

	mu        sync.Mutex
	waiting   []*batch // closed and not begun, oldest first
	begun     []*batch // with a worker; as many as there are workers at work
	ended     *sync.Cond
	workers   int
	heldUntil time.Time
}

func newQueue(config *Config, clock clock, sender *sender, reporter *reporter, onEnd func(*batch)) *queue {
	ctx, abandon := context.WithCancel(context.Background())
	q := &queue{
		config: config, clock: clock, random: rand.Float64, sender: sender, reporter: reporter, onEnd: onEnd,
		ctx: ctx, abandon: abandon,
	}
	q.ended = sync.NewCond(&q.mu)
	return q
}

// push takes a batch over.
func (q *queue) push(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, b)
	if q.workers < q.config.MaxInFlight {
		q.workers++
		go q.work()
	}
}

// wait returns when every batch that was pushed until now has come to its end.
func (q *queue) wait() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range append(slices.Clone(q.begun), q.waiting...) {
		for !b.hasEnded {
			q.ended.Wait()
		}
	}
}

func (q *queue) work() {
	for b := q.next(nil); b != nil; b = q.next(b) {
		v := q.deliver(b)
		q.reporter.settled(b, v.failed, v.rejected)
		q.onEnd(b)
	}
}

// next marks the end of the worker's last batch, and answers the oldest that waits, or nil when the worker shall end.
func (q *queue) next(last *batch) *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if last != nil {
		last.hasEnded = true
		q.begun = slices.DeleteFunc(q.begun, func(b *batch) bool { return b == last })
		q.ended.Broadcast()
	}
	if len(q.waiting) == 0 {
		q.workers--
		return nil
	}
	b := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.begun = append(q.begun, b)
	return b
}

// deliver sends the batch until the answer settles it or the attempts are used up.
func (q *queue) deliver(b *batch) verdict {
	for attempts := 0; ; {
		q.whileHeld()
		if q.ctx.Err() != nil {
			message := "the client was closed before the calls were delivered"
			return verdict{failed: &Error{Code: CodeClosed, Attempts: attempts, message: message}}
		}
		attempts++
		a := q.sender.send(q.ctx, b.text, b.tail(q.clock.Now()))
		v := judge(a, attempts, q.config.MaxAttempts, q.clock.Now(), q.random())
		if !v.retry {
			return v
		}
		if q.reporter.isDebug {
			q.reporter.debugf("%s, attempt %d in %v", v.reason, attempts+1, v.delay)
		}
		q.hold(v.hold)
		q.sleep(v.delay)
	}
}

func (q *queue) hold(d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if until := q.clock.Now().Add(d); until.After(q.heldUntil) {
		q.heldUntil = until
	}
}

func (q *queue) whileHeld() {
	for q.ctx.Err() == nil {
		q.mu.Lock()
		left := q.heldUntil.Sub(q.clock.Now())
		q.mu.Unlock()
		if left <= 0 {
			return
		}
		q.sleep(left)
	}
}

// sleep returns after d, or at once when the queue is abandoned.
func (q *queue) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	over := make(chan struct{})
	stop := q.clock.AfterFunc(d, func() { close(over) })
	select {
	case <-over:
	case <-q.ctx.Done():
		stop()
	}
}
