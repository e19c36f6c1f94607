package finding

import "fmt"

// Severity says what the user will experience, not how bad the author feels.
type Severity int

// The severities, mildest first.
const (
	Note    Severity = iota + 1 // the job runs; there is something to know
	Warning                     // the job risks failing, waiting or wasting
	Error                       // the job cannot run, or will surely fail
)

var severityNames = map[Severity]string{Note: "note", Warning: "warning", Error: "error"}

func (s Severity) String() string {
	if n, ok := severityNames[s]; ok {
		return n
	}
	return fmt.Sprintf("severity(%d)", int(s))
}

// MarshalText writes note, warning or error.
func (s Severity) MarshalText() ([]byte, error) {
	if n, ok := severityNames[s]; ok {
		return []byte(n), nil
	}
	return nil, fmt.Errorf("write severity %d: want note (1), warning (2) or error (3)", int(s))
}

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(b []byte) error {
	for v, n := range severityNames {
		if n == string(b) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("read severity %q: want note, warning or error", b)
}
