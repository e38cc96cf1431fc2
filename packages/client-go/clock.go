package analytics

import "time"

// clock is the part of time that the client uses. Tests give their own.
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

// isoMillis is the form of every time that leaves this library, in UTC.
const isoMillis = "2006-01-02T15:04:05.000Z"

// appendMoment appends the moment as isoMillis says. time.AppendFormat would read that layout anew for each call, which
// takes longer than all the rest of a call but its JSON.
func appendMoment(dst []byte, moment time.Time) []byte {
	moment = moment.UTC()
	year, month, day := moment.Date()
	if year < 0 || year > 9999 {
		return moment.AppendFormat(dst, isoMillis)
	}
	hour, minute, second := moment.Clock()
	millis := moment.Nanosecond() / 1e6
	dst = appendTwo(dst, year/100)
	dst = appendTwo(dst, year%100)
	dst = appendTwo(append(dst, '-'), int(month))
	dst = appendTwo(append(dst, '-'), day)
	dst = appendTwo(append(dst, 'T'), hour)
	dst = appendTwo(append(dst, ':'), minute)
	dst = appendTwo(append(dst, ':'), second)
	dst = append(dst, '.', byte('0'+millis/100))
	return append(appendTwo(dst, millis%100), 'Z')
}

func appendTwo(dst []byte, value int) []byte {
	return append(dst, byte('0'+value/10), byte('0'+value%10))
}
