package redact_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

func TestDataOfSecretsAreMasked(t *testing.T) {
	for name, c := range map[string]struct{ text, gone, stays string }{
		"as it is written":              {"apiVersion: v1\nkind: Secret\nmetadata:\n  name: wandb\nstringData:\n  any: plain words\ntype: Opaque", "plain words", "name: wandb"},
		"as kubectl prints it":          {"apiVersion: v1\ndata:\n  any: SGFyYm9yKjQ1MjJoYXJib3I=\nkind: Secret\nmetadata:\n  name: db", "SGFyYm9y", "name: db"},
		"in JSON":                       {"{\n  \"apiVersion\": \"v1\",\n  \"data\": {\n    \"any\": \"SGFyYm9yKjQ1MjJoYXJib3I=\"\n  },\n  \"kind\": \"Secret\"\n}", "SGFyYm9y", `"kind"`},
		"what was applied":              {`{"apiVersion":"v1","data":{"any":"SGFyYm9yKjQ1MjJoYXJib3I="},"kind":"Secret","metadata":{"name":"db"}}`, "SGFyYm9y", `"name":"db"`},
		"what was applied, in quotes":   {`"{\"data\":{\"any\":\"SGFyYm9yKjQ1MjJoYXJib3I=\"},\"kind\":\"Secret\"}"`, "SGFyYm9y", "Secret"},
		"folded":                        {"kind: Secret\nstringData:\n  any: |\n    of two words\n    and more\nmetadata:\n  name: db", "two words", "name: db"},
		"a ConfigMap keeps its words":   {"apiVersion: v1\ndata:\n  mode: training\n  level: debug1\nkind: ConfigMap", "", "training"},
		"other kinds keep their values": {"kind: Job\ndata:\n  any: of two words", "", "two words"},
	} {
		got := redact.Text(c.text)
		if c.gone != "" && strings.Contains(got, c.gone) || !strings.Contains(got, c.stays) {
			t.Errorf("%s:\n%s", name, got)
		}
		if again := redact.Text(got); again != got {
			t.Errorf("%s: masked twice:\n%s\n%s", name, got, again)
		}
	}
	for lines, want := range map[int]bool{254: true, 255: false} { // data: and its first value are lines too
		text := "kind: Secret\n" + strings.Repeat("x: y\n", lines) + "data:\n  any: SGFyYm9yKjQ1MjJoYXJib3I="
		if got := !strings.Contains(redact.Text(text), "SGFyYm9y"); got != want {
			t.Errorf("%d lines between: masked %t, want %t", lines, got, want)
		}
	}
}
