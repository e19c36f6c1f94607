package serve

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/config"
)

// TestALineOfTheLogIsOneLine: whatever a name holds, the log has a line for each record, and a terminal shows what stands there.
func TestALineOfTheLogIsOneLine(t *testing.T) {
	const hostile = "a\n{\"level\":\"INFO\"}\x1b[2J\u202egnp\u2028b\U000e0041"
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		log, _ := newLog(&out, config.Log{Format: format, Level: "info"})
		log.Info("denied "+hostile, "name", hostile, hostile, 1)
		said := out.String()
		if strings.Count(said, "\n") != 1 || strings.ContainsAny(said, "\x1b\u202e\u2028\U000e0041") {
			t.Errorf("%s: %q", format, said)
		}
		var read map[string]any
		if err := json.Unmarshal(out.Bytes(), &read); format == "json" && (err != nil || read["name"] != hostile || read[hostile] != 1.) {
			t.Errorf("%v is read: %v", read, err)
		}
	}
}
