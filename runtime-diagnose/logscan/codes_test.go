package logscan

import "testing"

func TestFailureOf(t *testing.T) {
	for name, tc := range map[string]struct {
		message string
		want    int
	}{
		"Rust's number":                       {"Os { code: 28, kind: StorageFull }", 28},
		"words at the end":                    {"open /data/x: Permission denied", 13},
		"in any case":                         {"mkdir x: FILE: READ-ONLY FILE SYSTEM.", 30},
		"the last one of two":                 {"a: Permission denied: No such file or directory", 2},
		"words that go on":                    {"a: Permission deniedness", 0},
		"words in the middle of a sentence":   {"it says Permission denied", 0},
		"letters whose small ones are longer": {"ȺȺȺȺ: Permission denied", 13},
		"nothing":                             {"all is well", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := failureOf(tc.message); got != tc.want {
				t.Errorf("failureOf(%q) = %d, want %d", tc.message, got, tc.want)
			}
		})
	}
}

func TestRuled(t *testing.T) {
	for line, want := range map[string]bool{
		"ERROR ********": true, "ERROR ******* ": false, "=-=-=-=- \t": true, "--------x": false, "": false, "########\r\n": true,
	} {
		if got := ruled(line); got != want {
			t.Errorf("ruled(%q) = %t, want %t", line, got, want)
		}
	}
}
