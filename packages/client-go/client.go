package analytics

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Client takes calls, gathers them into batches and hands full ones to its queue. Make one for the program, with New.
//
//   - A call returns an error when it was not queued; a refused call leaves no trace.
//   - A call that is taken is either delivered or handed to OnError, once.
//   - The calls held, waiting or in flight, are at most MaxQueueBytes. A call past it is the one that is handed over:
//     earlier calls keep their places.
//   - A batch closes when it has FlushAt calls, when the next call would take its body past 500 KB, when FlushAfter has
//     passed since the last one closed, and at Flush and Close.
type Client struct {
	// Config is read at the first call.
	Config

	writeKey string
	once     sync.Once
	startErr *Error
	clock    clock
	config   Config
	queue    *queue
	reporter *reporter
	idPrefix string
	idCount  atomic.Uint64

	mu        sync.Mutex
	batch     *batch // nil while no call is gathered
	capacity  int    // of the next batch: the size of the last one
	heldBytes int
	lastFlush time.Time
	flushDue  time.Time // of the gathered batch
	stopTimer func()    // nil while no timer runs
	isClosed  bool

	closeOnce sync.Once
	closeErr  error
}

// New returns a client with the defaults: it flushes at 20 queued calls, and 5 s after the last flush. Its Config fields may be
// set until the first call.
func New(writeKey string) *Client { return &Client{writeKey: writeKey} }

// NewWithConfig returns a client, or an *Error with CodeInvalidOption.
func NewWithConfig(writeKey string, config Config) (*Client, error) {
	c := &Client{writeKey: writeKey, Config: config}
	if err := c.start(); err != nil {
		return nil, err
	}
	return c, nil
}

// Identify queues the call, or returns an *Error that says why it did not.
func (c *Client) Identify(m *Identify) error {
	if m == nil {
		return noMessage("identify")
	}
	return c.take(&draft{
		kind: "identify", messageID: m.MessageId, timestamp: m.Timestamp, userID: m.UserId, anonymousID: m.AnonymousId,
		traits: m.Traits, context: m.Context, integrations: m.Integrations,
	})
}

// Track queues the call, or returns an *Error that says why it did not.
func (c *Client) Track(m *Track) error {
	if m == nil {
		return noMessage("track")
	}
	return c.take(&draft{
		kind: "track", messageID: m.MessageId, timestamp: m.Timestamp, userID: m.UserId, anonymousID: m.AnonymousId,
		event: m.Event, properties: m.Properties, context: m.Context, integrations: m.Integrations,
	})
}

// Page queues the call, or returns an *Error that says why it did not.
func (c *Client) Page(m *Page) error {
	if m == nil {
		return noMessage("page")
	}
	return c.take(&draft{
		kind: "page", messageID: m.MessageId, timestamp: m.Timestamp, userID: m.UserId, anonymousID: m.AnonymousId,
		category: m.Category, name: m.Name, properties: m.Traits, context: m.Context, integrations: m.Integrations,
	})
}

// Group queues the call, or returns an *Error that says why it did not.
func (c *Client) Group(m *Group) error {
	if m == nil {
		return noMessage("group")
	}
	return c.take(&draft{
		kind: "group", messageID: m.MessageId, timestamp: m.Timestamp, userID: m.UserId, anonymousID: m.AnonymousId,
		groupID: m.GroupId, traits: m.Traits, context: m.Context, integrations: m.Integrations,
	})
}

// Alias queues the call, or returns an *Error that says why it did not.
func (c *Client) Alias(m *Alias) error {
	if m == nil {
		return noMessage("alias")
	}
	return c.take(&draft{
		kind: "alias", messageID: m.MessageId, timestamp: m.Timestamp, userID: m.UserId, previousID: m.PreviousId,
		context: m.Context, integrations: m.Integrations,
	})
}

// Flush sends the queued calls, and returns when all calls made until now were delivered or handed to OnError.
func (c *Client) Flush() {
	if c.start() != nil {
		return
	}
	c.mu.Lock()
	c.closeBatch()
	c.mu.Unlock()
	c.queue.wait()
}

// Close flushes, for at most CloseTimeout. The undelivered calls then go to OnError, as do calls that are made from now
// on, and Close returns an *Error with CodeClosed. Every Close waits for the first and returns its result.
func (c *Client) Close() error {
	if err := c.start(); err != nil {
		return err
	}
	c.closeOnce.Do(func() {
		c.mu.Lock()
		c.isClosed = true
		c.mu.Unlock()
		stop := c.clock.AfterFunc(c.config.CloseTimeout, c.queue.abandon)
		c.Flush()
		stop()
		c.mu.Lock()
		if c.stopTimer != nil {
			c.stopTimer()
		}
		c.mu.Unlock()
		if c.queue.ctx.Err() != nil {
			message := fmt.Sprintf("not all calls were delivered within %v", c.config.CloseTimeout)
			c.closeErr = &Error{Code: CodeClosed, message: message}
		}
		if c.Config.Transport == nil {
			c.queue.sender.client.CloseIdleConnections()
		}
	})
	return c.closeErr
}

// start reads the config, once, and returns its fault.
func (c *Client) start() error {
	c.once.Do(func() {
		if c.config, c.startErr = c.Config.resolved(c.writeKey); c.startErr != nil {
			return
		}
		if c.clock == nil {
			c.clock = systemClock{}
		}
		if c.idPrefix == "" {
			c.idPrefix = "ph-" + uniqueID() + "-"
		}
		c.reporter = &reporter{config: &c.config, clock: c.clock, isDebug: isDebugging()}
		c.queue = newQueue(&c.config, c.clock, newSender(c.writeKey, &c.config), c.reporter, c.release)
		c.lastFlush = c.clock.Now()
	})
	if c.startErr != nil { // a nil *Error in an error would not be nil
		return c.startErr
	}
	return nil
}

// scratch holds one call while it is written, outside the lock. Most fit in its first capacity.
var scratch = sync.Pool{New: func() any {
	buffer := make([]byte, 0, 1024)
	return &buffer
}}

func (c *Client) take(d *draft) error {
	if err := c.start(); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	c.fillIn(d)
	buffer := scratch.Get().(*[]byte)
	defer scratch.Put(buffer)
	text, err := encodeCall((*buffer)[:0], d)
	*buffer = text
	if err != nil {
		return err
	}
	if err := c.gather(text); err != nil {
		// The buffer goes back to the pool, and the callback may keep its messages.
		kept := json.RawMessage(append([]byte(nil), text...))
		c.reporter.failed(err, 1, func() []json.RawMessage { return []json.RawMessage{kept} })
		return err
	}
	if c.reporter.isDebug {
		c.reporter.debugf("queued %s, %d bytes", d.kind, len(text))
	}
	return nil
}

// fillIn adds the missing fields: an id that no other call has, and the time of the call.
func (c *Client) fillIn(d *draft) {
	if d.messageID == "" {
		d.idPrefix, d.idCount = c.idPrefix, c.idCount.Add(1)
	}
	if d.timestamp == "" {
		d.now = c.clock.Now()
	}
}

// gather puts the call into the open batch, or answers why there is no room for it.
func (c *Client) gather(call []byte) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed {
		return &Error{Code: CodeClosed, message: "the client is closed"}
	}
	if c.heldBytes+len(call) > c.config.MaxQueueBytes {
		message := "the queue holds its limit of " + strconv.Itoa(c.config.MaxQueueBytes) + " bytes"
		return &Error{Code: CodeQueueFull, message: message}
	}
	if c.batch != nil && !c.batch.hasRoomFor(len(call)) {
		c.closeBatch()
	}
	if c.batch == nil {
		c.openBatch()
	}
	c.batch.add(call)
	c.heldBytes += len(call)
	if len(c.batch.ends) >= c.config.FlushAt {
		c.closeBatch()
	}
	return nil
}

// openBatch begins a batch, and a timer when none runs and the batch will not be full with its first call.
func (c *Client) openBatch() {
	c.batch = newBatch(c.capacity, c.config.FlushAt)
	if c.config.FlushAt == 1 {
		return
	}
	now := c.clock.Now()
	left := c.untilFlush(now)
	c.flushDue = now.Add(left)
	if c.stopTimer == nil {
		c.stopTimer = c.clock.AfterFunc(left, c.onTimer)
	}
}

// untilFlush makes flushes come every FlushAfter since the last one; those that had nothing to send count too.
func (c *Client) untilFlush(now time.Time) time.Duration {
	sinceFlush := max(0, now.Sub(c.lastFlush))
	return c.config.FlushAfter - sinceFlush%c.config.FlushAfter
}

// onTimer closes the batch when its time has come. A timer is left running when its batch is full, and then finds a later one,
// which is never due before it: setting a timer for each batch would cost more than all calls of the batch.
func (c *Client) onTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopTimer = nil
	if c.batch == nil {
		return
	}
	if left := c.flushDue.Sub(c.clock.Now()); left > 0 {
		c.stopTimer = c.clock.AfterFunc(left, c.onTimer)
		return
	}
	c.closeBatch()
}

// closeBatch hands the gathered batch to the queue. The lock is held, so that batches are pushed in the order of their
// calls.
func (c *Client) closeBatch() {
	c.lastFlush = c.clock.Now()
	if c.batch == nil {
		return
	}
	c.capacity = len(c.batch.text) * 9 / 8 // the next may be a little longer, and should not be moved for that
	c.queue.push(c.batch)
	c.batch = nil
}

// release gives back the room of a batch that came to its end.
func (c *Client) release(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heldBytes -= b.callBytes
}

// maxCallBytes is the largest call, as JSON: 32 KB. The server counts the same bytes.
const maxCallBytes = 32_768

func encodeCall(dst []byte, d *draft) ([]byte, *Error) {
	text, field, err := appendDraft(dst, d)
	if err != nil && err != errTooLong {
		return text, &Error{Code: CodeInvalidField, Field: field, message: d.kind + ": " + field + " cannot be written as JSON", cause: err}
	}
	if len(text) > maxCallBytes {
		message := d.kind + " is " + strconv.Itoa(len(text)) + " bytes of JSON, " + strconv.Itoa(maxCallBytes) + " are allowed"
		return text, &Error{Code: CodeCallTooLarge, message: message}
	}
	return text, nil
}

func noMessage(kind string) error {
	return &Error{Code: CodeInvalidField, message: kind + " takes a message"}
}

// uniqueID returns 128 random bits in at most 28 characters.
func uniqueID() string {
	var bits [16]byte
	if _, err := rand.Read(bits[:]); err != nil {
		panic(err) // the system has no randomness; crypto/rand itself ends the program since Go 1.24
	}
	high, low := binary.BigEndian.Uint64(bits[:8]), binary.BigEndian.Uint64(bits[8:])
	return strconv.FormatUint(high, 36) + strconv.FormatUint(low, 36)
}
