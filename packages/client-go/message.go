package analytics

import "time"

// The actor: every call but Alias needs a UserId or an AnonymousId.
//
// Optional fields of every call: a Timestamp (ISO 8601 with an offset; the time of the call when it is empty), a
// Context (device, page, app and the like; no attributes of the user), Integrations (destinations by name, case
// sensitive, to true or false; "All": false turns off every one that is not named), and a MessageId (the caller's own
// idempotency key, at most 100 printable ASCII characters; made when it is empty).

// Identify sets the traits of a user.
type Identify struct {
	UserId       string
	AnonymousId  string
	Traits       map[string]any
	Context      map[string]any
	Integrations map[string]any
	Timestamp    string
	MessageId    string
}

// Track records an action of a user. Event is required.
type Track struct {
	UserId       string
	AnonymousId  string
	Event        string
	Properties   map[string]any
	Context      map[string]any
	Integrations map[string]any
	Timestamp    string
	MessageId    string
}

// Page says which page a user saw. Traits are the page's: url, title, referrer and path are recognised, others are kept.
// They go over the wire as "properties".
type Page struct {
	UserId       string
	AnonymousId  string
	Category     string
	Name         string
	Traits       map[string]any
	Context      map[string]any
	Integrations map[string]any
	Timestamp    string
	MessageId    string
}

// Group puts a user into a group. GroupId is required; Traits are the group's.
type Group struct {
	UserId       string
	AnonymousId  string
	GroupId      string
	Traits       map[string]any
	Context      map[string]any
	Integrations map[string]any
	Timestamp    string
	MessageId    string
}

// Alias gives a user's PreviousId the new UserId. Both are required.
type Alias struct {
	UserId       string
	PreviousId   string
	Context      map[string]any
	Integrations map[string]any
	Timestamp    string
	MessageId    string
}

// draft is a call of any type, on its way to JSON. Passed by pointer and kept nowhere, so that it stays on the caller's stack.
type draft struct {
	kind         string
	messageID    string // empty: idPrefix and idCount
	idPrefix     string
	idCount      uint64
	timestamp    string // empty: now
	now          time.Time
	userID       string
	anonymousID  string
	previousID   string
	groupID      string
	event        string
	category     string
	name         string
	traits       map[string]any
	properties   map[string]any
	context      map[string]any
	integrations map[string]any
}

// maxMessageIDLength is the limit of the tracking API's own documents.
const maxMessageIDLength = 100

// check returns why the call cannot be taken, or nil.
func (d *draft) check() *Error {
	switch {
	case d.userID == "" && d.kind == "alias":
		return missingField(d.kind, "userId", "a userId")
	case d.userID == "" && d.anonymousID == "":
		return missingField(d.kind, "userId", "a userId or an anonymousId")
	case d.event == "" && d.kind == "track":
		return missingField(d.kind, "event", "an event")
	case d.groupID == "" && d.kind == "group":
		return missingField(d.kind, "groupId", "a groupId")
	case d.previousID == "" && d.kind == "alias":
		return missingField(d.kind, "previousId", "a previousId")
	case len(d.messageID) > maxMessageIDLength || !isPrintableASCII(d.messageID):
		return invalidField(d.kind, "messageId", "at most 100 printable ASCII characters")
	case d.timestamp != "" && !isISODateTime(d.timestamp):
		return invalidField(d.kind, "timestamp", "an ISO 8601 date and time with an offset, as 2012-12-02T00:30:08.276Z")
	}
	return nil
}

func missingField(kind, field, noun string) *Error {
	return &Error{Code: CodeMissingField, Field: field, message: kind + " needs " + noun}
}

func invalidField(kind, field, expected string) *Error {
	return &Error{Code: CodeInvalidField, Field: field, message: kind + ": " + field + " must be " + expected}
}

func isPrintableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			return false
		}
	}
	return true
}

// isISODateTime reports whether text is YYYY-MM-DDTHH:mm:ss, perhaps a fraction, and Z or an offset with or without a colon.
func isISODateTime(text string) bool {
	const shape = "0000-00-00T00:00:00"
	if len(text) <= len(shape) || !hasShape(text[:len(shape)], shape) {
		return false
	}
	rest := text[len(shape):]
	if rest[0] == '.' {
		digits := 1
		for digits < len(rest) && isDigit(rest[digits]) {
			digits++
		}
		if digits == 1 {
			return false
		}
		rest = rest[digits:]
	}
	if rest == "Z" {
		return true
	}
	if rest == "" || (rest[0] != '+' && rest[0] != '-') {
		return false
	}
	return hasShape(rest[1:], "00:00") || hasShape(rest[1:], "0000")
}

// hasShape compares byte by byte, where 0 in shape stands for any digit.
func hasShape(text, shape string) bool {
	if len(text) != len(shape) {
		return false
	}
	for i := range len(shape) {
		if shape[i] == '0' && !isDigit(text[i]) || shape[i] != '0' && text[i] != shape[i] {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
