package analytics

// Code names a failure. Programs compare codes; the message is for people.
type Code string

const (
	// CodeInvalidOption: a field of Config, or the write key, cannot be used. Every call returns it.
	CodeInvalidOption Code = "invalid_option"
	// CodeMissingField: the call lacks Error.Field. Returned by the call.
	CodeMissingField Code = "missing_field"
	// CodeInvalidField: Error.Field has a wrong value, or cannot be written as JSON. Returned by the call.
	CodeInvalidField Code = "invalid_field"
	// CodeCallTooLarge: the call is over 32 KB of JSON. Returned by the call.
	CodeCallTooLarge Code = "call_too_large"
	// CodeRejected: the server took the batch, but not this call.
	CodeRejected Code = "rejected"
	// CodeRefused: the server did not take the request, and would not the next time.
	CodeRefused Code = "refused"
	// CodeUnavailable: every attempt failed.
	CodeUnavailable Code = "unavailable"
	// CodeQueueFull: the queue holds as much as it may. Returned by the call, and handed to OnError.
	CodeQueueFull Code = "queue_full"
	// CodeClosed: the client was closed first. Returned by the call or by Close, and handed to OnError.
	CodeClosed Code = "closed"
)

// Error is the one error type of this package.
type Error struct {
	Code Code
	// Field is the field of the call, as it is called in JSON, or the option that is at fault.
	Field string
	// Status is the last HTTP status; 0 when there was no answer.
	Status int
	// ServerCode is the "code" of the server's own error, when it gave one.
	ServerCode string
	// Attempts is how many requests were made.
	Attempts int

	message string
	cause   error
}

func (e *Error) Error() string { return "analytics: " + e.message }

// Message is the text without the package's name.
func (e *Error) Message() string { return e.message }

func (e *Error) Unwrap() error { return e.cause }
