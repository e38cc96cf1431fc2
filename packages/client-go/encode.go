package analytics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// The common values are written here, since encoding/json would allocate for each of them, sort each map and escape
// characters that only HTML minds. Everything else goes to encoding/json. The bytes equal JavaScript's JSON.stringify,
// so that this library and the TypeScript one cut their batches at the same calls.

const (
	// maxDepth ends a map that holds itself before the stack does.
	maxDepth = 500
	// maxEncodedBytes ends one that holds itself twice, which depth alone would not in anyone's lifetime.
	maxEncodedBytes = 4 << 20
)

var (
	errTooDeep = errors.New("nested too deeply, perhaps in itself")
	errTooLong = errors.New("too long")
)

const libraryJSON = `{"name":"posthaste-go","version":"0.1.0"}`

// appendDraft appends the call as JSON, its fields in the order of the wire. On an error it answers the field at fault.
func appendDraft(dst []byte, d *draft) (encoded []byte, field string, err error) {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, d.kind...)
	dst = append(dst, `","messageId":`...)
	if d.messageID != "" {
		dst = appendString(dst, d.messageID)
	} else {
		dst = append(append(dst, '"'), d.idPrefix...)
		dst = append(strconv.AppendUint(dst, d.idCount, 36), '"')
	}
	dst = append(dst, `,"timestamp":"`...)
	if d.timestamp != "" {
		dst = append(dst, d.timestamp...) // checked: nothing in it needs an escape
	} else {
		dst = appendMoment(dst, d.now)
	}
	dst = append(dst, '"')
	dst = appendStringField(dst, `,"userId":`, d.userID)
	dst = appendStringField(dst, `,"anonymousId":`, d.anonymousID)
	dst = appendStringField(dst, `,"previousId":`, d.previousID)
	dst = appendStringField(dst, `,"groupId":`, d.groupID)
	dst = appendStringField(dst, `,"event":`, d.event)
	dst = appendStringField(dst, `,"category":`, d.category)
	dst = appendStringField(dst, `,"name":`, d.name)
	if dst, err = appendMapField(dst, `,"traits":`, d.traits); err != nil {
		return dst, "traits", err
	}
	if dst, err = appendMapField(dst, `,"properties":`, d.properties); err != nil {
		return dst, "properties", err
	}
	if dst, err = appendContext(dst, d.context); err != nil {
		return dst, "context", err
	}
	if dst, err = appendMapField(dst, `,"integrations":`, d.integrations); err != nil {
		return dst, "integrations", err
	}
	return append(dst, '}'), "", nil
}

// appendStringField omits an empty value.
func appendStringField(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendString(append(dst, key...), value)
}

// appendMapField omits nil; an empty map is written.
func appendMapField(dst []byte, key string, value map[string]any) ([]byte, error) {
	if value == nil {
		return dst, nil
	}
	return appendMap(append(dst, key...), value, 0)
}

// appendContext writes the caller's context with the library's name and version, unless it names a library itself.
func appendContext(dst []byte, context map[string]any) ([]byte, error) {
	dst = append(dst, `,"context":`...)
	if _, isNamed := context["library"]; isNamed {
		return appendMap(dst, context, 0)
	}
	if len(context) > 0 {
		var err error
		if dst, err = appendMap(dst, context, 0); err != nil {
			return dst, err
		}
		dst[len(dst)-1] = ',' // in place of the brace
	} else {
		dst = append(dst, '{')
	}
	dst = append(dst, `"library":`...)
	return append(append(dst, libraryJSON...), '}'), nil
}

func appendValue(dst []byte, value any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, errTooDeep
	}
	if len(dst) > maxEncodedBytes {
		return dst, errTooLong
	}
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return appendString(dst, v), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case int32:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case uint:
		return strconv.AppendUint(dst, uint64(v), 10), nil
	case uint64:
		return strconv.AppendUint(dst, v, 10), nil
	case uint32:
		return strconv.AppendUint(dst, uint64(v), 10), nil
	case float64:
		return appendFloat(dst, v)
	case map[string]any:
		if v == nil {
			return append(dst, "null"...), nil
		}
		return appendMap(dst, v, depth)
	case map[string]string:
		return appendStringMap(dst, v), nil
	case []any:
		if v == nil {
			return append(dst, "null"...), nil
		}
		return appendSlice(dst, v, depth)
	case []string:
		return appendStrings(dst, v), nil
	case time.Time:
		return appendTime(dst, v)
	default:
		return appendMarshaled(dst, v)
	}
}

func appendMap(dst []byte, values map[string]any, depth int) ([]byte, error) {
	dst = append(dst, '{')
	isFirst := true
	for key, value := range values {
		if !isFirst {
			dst = append(dst, ',')
		}
		isFirst = false
		dst = append(appendString(dst, key), ':')
		var err error
		if dst, err = appendValue(dst, value, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendSlice(dst []byte, values []any, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, value, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendStringMap(dst []byte, values map[string]string) []byte {
	if values == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	isFirst := true
	for key, value := range values {
		if !isFirst {
			dst = append(dst, ',')
		}
		isFirst = false
		dst = appendString(append(appendString(dst, key), ':'), value)
	}
	return append(dst, '}')
}

func appendStrings(dst []byte, values []string) []byte {
	if values == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, value)
	}
	return append(dst, ']')
}

// appendFloat writes a number as JavaScript does: the shortest digits that read back as it, an exponent only outside 1e-6 to 1e21.
func appendFloat(dst []byte, value float64) ([]byte, error) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return dst, fmt.Errorf("%v is no number in JSON", value)
	}
	size := math.Abs(value)
	if size == 0 {
		return append(dst, '0'), nil // -0 too
	}
	if size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, value, 'f', -1, 64), nil
	}
	dst = strconv.AppendFloat(dst, value, 'e', -1, 64)
	// Go writes two digits at least: e-07 becomes e-7.
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst, nil
}

// appendTime writes a moment as encoding/json does, which refuses years of more than four digits.
func appendTime(dst []byte, moment time.Time) ([]byte, error) {
	if year := moment.Year(); year < 0 || year > 9999 {
		return dst, fmt.Errorf("the year %d has no ISO 8601 form", year)
	}
	dst = append(dst, '"')
	return append(moment.AppendFormat(dst, time.RFC3339Nano), '"'), nil
}

// appendMarshaled takes any other type by its json tags and methods. A method that panics makes an error: it is the value that
// cannot be sent, and no reason to end the program that tried.
func appendMarshaled(dst []byte, value any) (encoded []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			encoded, err = dst, fmt.Errorf("%T panicked: %v", value, reason)
		}
	}()
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))...), nil
}

const hexDigits = "0123456789abcdef"

// appendString escapes the characters that JSON must have escaped and no others; bytes that are no UTF-8 become U+FFFD.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); {
		b := text[i]
		if b >= 0x20 && b != '"' && b != '\\' && b < utf8.RuneSelf {
			i++
			continue
		}
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, text[start:i]...), "\ufffd"...)
				start = i + size
			}
			i += size
			continue
		}
		dst = appendEscape(append(dst, text[start:i]...), b)
		i++
		start = i
	}
	return append(append(dst, text[start:]...), '"')
}

func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xf])
	}
}
