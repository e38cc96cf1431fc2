package analytics

import (
	"encoding/json"
	"time"
)

// maxBatchBytes is the largest body: 500 KB. The server counts 512,000 bytes; others read the same limit as 500,000, and a
// proxy between may be one of them.
const maxBatchBytes = 500_000

const (
	batchHead = `{"batch":[`
	batchTail = `],"sentAt":"`
	// envelopeBytes is the size of a body without its calls and the commas between them.
	envelopeBytes = len(batchHead) + len(batchTail) + len(isoMillis) + len(`"}`)
)

// batch is the calls of one request, in the order in which they were made. Once it is closed its bytes never change: a
// transport may still read them after it answered.
type batch struct {
	text      []byte // batchHead and the calls, with commas between
	ends      []int  // where each call ends in text
	callBytes int    // bytes of the calls alone: the figure that the queue's limit counts
	hasEnded  bool   // guarded by the queue
}

// newBatch takes a guess of its size, so that a steady stream of calls grows no buffer twice.
func newBatch(capacity, calls int) *batch {
	b := &batch{text: make([]byte, 0, max(capacity, 1024)), ends: make([]int, 0, min(calls, 1024))}
	b.text = append(b.text, batchHead...)
	return b
}

// hasRoomFor reports whether the body would stay within its limit with a call of so many bytes. An empty batch takes any call.
func (b *batch) hasRoomFor(callBytes int) bool {
	commas := len(b.ends)
	return commas == 0 || envelopeBytes+b.callBytes+commas+callBytes <= maxBatchBytes
}

func (b *batch) add(call []byte) {
	if len(b.ends) > 0 {
		b.text = append(b.text, ',')
	}
	b.text = append(b.text, call...)
	b.ends = append(b.ends, len(b.text))
	b.callBytes += len(call)
}

// tail ends the body. sentAt is of this attempt, since the server corrects the callers' clocks by it.
func (b *batch) tail(sentAt time.Time) string {
	return string(append(appendMoment([]byte(batchTail), sentAt), `"}`...))
}

// messages returns the calls for which keep is true. They share the batch's bytes.
func (b *batch) messages(keep func(index int) bool) []json.RawMessage {
	messages := make([]json.RawMessage, 0, len(b.ends))
	start := len(batchHead)
	for i, end := range b.ends {
		if keep(i) {
			messages = append(messages, json.RawMessage(b.text[start:end:end]))
		}
		start = end + 1 // the comma
	}
	return messages
}
