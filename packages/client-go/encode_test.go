package analytics

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := appendValue(nil, value, 0)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryStringReadsBackAsEncodingJSONWouldReadIt(t *testing.T) {
	check := func(text string) bool {
		var got, want string
		reference, err := json.Marshal(text)
		if err != nil || json.Unmarshal(reference, &want) != nil {
			return false
		}
		return json.Unmarshal([]byte(encoded(t, text)), &got) == nil && got == want
	}
	for _, text := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "ü€🚀\u2028\u2029", "a\xffb\xc3", "\xed\xa0\x80"} {
		if !check(text) {
			t.Errorf("%q became %s", text, encoded(t, text))
		}
	}
	bytes := func(b []byte) bool { return check(string(b)) }
	if err := quick.Check(bytes, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func TestEveryNumberReadsBackAsItself(t *testing.T) {
	check := func(bits uint64) bool {
		value := math.Float64frombits(bits)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			_, err := appendValue(nil, value, 0)
			return err != nil
		}
		var got float64
		return json.Unmarshal([]byte(encoded(t, value)), &got) == nil && got == value
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}

func TestValuesOfAllKinds(t *testing.T) {
	type tagged struct {
		Name string `json:"name"`
		Note string `json:"note,omitempty"`
	}
	moment := time.Date(2012, 12, 2, 0, 30, 8, 276e6, time.UTC)
	for want, value := range map[string]any{
		"null":                       nil,
		"true":                       true,
		"-1":                         -1,
		"18446744073709551615":       uint64(math.MaxUint64),
		"-9223372036854775808":       int64(math.MinInt64),
		"7":                          int8(7),
		"0":                          math.Copysign(0, -1),
		"0.1":                        float32(0.1),
		`["a","<b>"]`:                []string{"a", "<b>"},
		`{"a":"<b>"}`:                map[string]string{"a": "<b>"},
		`[1,["x",{"y":null}]]`:       []any{1, []any{"x", map[string]any{"y": nil}}},
		`{"name":"<T&J>"}`:           tagged{Name: "<T&J>"},
		`"2012-12-02T00:30:08.276Z"`: moment,
		"12.50":                      json.Number("12.50"),
		`{"a":1}`:                    json.RawMessage(` { "a" : 1 } `),
		`"AQI="`:                     []byte{1, 2},
	} {
		if got := encoded(t, value); got != want {
			t.Errorf("%T %v: got %s, want %s", value, value, got, want)
		}
	}
	for _, empty := range []any{map[string]any(nil), []any(nil), []string(nil), map[string]string(nil)} {
		if got := encoded(t, empty); got != "null" {
			t.Errorf("%T: got %s, want null", empty, got)
		}
	}
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("on purpose") }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("on purpose") }

func TestAValueThatJSONCannotHoldIsRefusedWithItsField(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	branching := map[string]any{}
	branching["left"], branching["right"] = branching, branching
	client := newTestClient(t, Config{}, newFakeClock(t, testNow))
	for name, value := range map[string]any{
		"a map that holds itself": cycle, "a map that holds itself twice": branching, "a channel": make(chan int), "NaN": math.NaN(),
		"MarshalJSON that panics": panicking{}, "MarshalJSON that fails": failing{}, "the year 10000": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			err := client.Identify(&Identify{UserId: "u1", Traits: map[string]any{"x": value}})
			var refusal *Error
			if !errors.As(err, &refusal) {
				t.Fatalf("got %v", err)
			}
			isTooLarge := refusal.Code == CodeCallTooLarge // a value that grows without end may be cut by its size
			if !isTooLarge && (refusal.Code != CodeInvalidField || refusal.Field != "traits" || refusal.Unwrap() == nil) {
				t.Errorf("got %+v", refusal)
			}
		})
	}
}

func TestTimestampsOfISO8601(t *testing.T) {
	for text, want := range map[string]bool{
		"2012-12-02T00:30:08Z": true, "2012-12-02T00:30:08.2Z": true, "2012-12-02T00:30:08.276442375+01:00": true,
		"2012-12-02T00:30:08+0100": true, "2012-12-02T00:30:08-11:30": true,
		"": false, "2012-12-02": false, "2012-12-02T00:30:08": false, "2012-12-02T00:30:08.Z": false, "2012-12-02 00:30:08Z": false,
		"2012-12-02T00:30:08z": false, "2012-12-02T00:30:08+1": false, "2012-12-02T00:30:08+01:000": false, "2012-12-02T0a:30:08Z": false,
	} {
		if got := isISODateTime(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestACallThatIsQueuedAllocatesLittle(t *testing.T) {
	server := newTestServer(t)
	// One batch for all of them, so that nothing is sent meanwhile.
	client := newTestClient(t, Config{Endpoint: server.URL, FlushAt: 1_000_000}, newFakeClock(t, testNow))
	properties := map[string]any{"revenue": 39.95, "sku": "A-1", "plan": "pro", "items": 3}
	got := testing.AllocsPerRun(500, func() {
		if err := client.Track(&Track{UserId: "u1", Event: "Order Completed", Properties: properties}); err != nil {
			t.Fatal(err)
		}
	})
	// Now and then a larger batch; the race detector drops a quarter of the pool's buffers.
	if got > 1 {
		t.Errorf("got %v allocations a call, want 1 at most", got)
	}
}

func TestEveryMomentIsWrittenAsTheLayoutSays(t *testing.T) {
	check := func(milliseconds int64, zone int16) bool {
		moment := time.UnixMilli(milliseconds % 253402300799999).In(time.FixedZone("", int(zone)))
		return string(appendMoment(nil, moment)) == moment.UTC().Format(isoMillis)
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}

func TestABatchKeepsItsCallsApart(t *testing.T) {
	b := newBatch(0, 20)
	calls := []string{`{"a":1}`, `{"b":[1,2]}`, `{}`}
	for _, call := range calls {
		b.add([]byte(call))
	}
	got := []string{}
	for _, message := range b.messages(func(int) bool { return true }) {
		got = append(got, string(message))
	}
	if !reflect.DeepEqual(got, calls) {
		t.Errorf("got %v, want %v", got, calls)
	}
	body := string(b.text) + b.tail(time.UnixMilli(0))
	if want := `{"batch":[` + strings.Join(calls, ",") + `],"sentAt":"1970-01-01T00:00:00.000Z"}`; body != want {
		t.Errorf("got %s, want %s", body, want)
	}
}
