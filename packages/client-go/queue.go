package analytics

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// queue owns every batch that was closed and has not come to its end: delivered, or handed to OnError.
//
//	Q1  A call comes to its end exactly once.
//	Q2  Batches are begun in the order in which they were closed, and at most MaxInFlight are between their first request and
//	    their end. A batch that waits for its retry keeps its place, so a server that is down hears from few.
//	Q3  A Retry-After holds back all batches, since it is the client as a whole that was too much.
//	Q4  After abandon no request begins, and every batch comes to its end at once.
//	Q5  Goroutines exist only while there is something to send.
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
	waiting   []*batch
	unsettled map[*batch]struct{}
	workers   int
	heldUntil time.Time
}

func newQueue(config *Config, clock clock, sender *sender, reporter *reporter, onEnd func(*batch)) *queue {
	ctx, abandon := context.WithCancel(context.Background())
	return &queue{
		config: config, clock: clock, random: rand.Float64, sender: sender, reporter: reporter, onEnd: onEnd,
		ctx: ctx, abandon: abandon, unsettled: map[*batch]struct{}{},
	}
}

// push takes a batch over.
func (q *queue) push(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, b)
	q.unsettled[b] = struct{}{}
	if q.workers < q.config.MaxInFlight {
		q.workers++
		go q.work()
	}
}

// wait returns when every batch that was pushed until now has come to its end.
func (q *queue) wait() {
	q.mu.Lock()
	batches := make([]*batch, 0, len(q.unsettled))
	for b := range q.unsettled {
		batches = append(batches, b)
	}
	q.mu.Unlock()
	for _, b := range batches {
		<-b.settled
	}
}

func (q *queue) work() {
	for b := q.next(); b != nil; b = q.next() {
		v := q.deliver(b)
		q.reporter.settled(b, v.failed, v.rejected)
		q.onEnd(b)
		q.mu.Lock()
		delete(q.unsettled, b)
		q.mu.Unlock()
		close(b.settled)
	}
}

// next answers the oldest batch that waits, or nil when the worker shall end.
func (q *queue) next() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.workers--
		return nil
	}
	b := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
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
