package reduce

import (
	"strings"
	"testing"
)

// maskEverything asks every mask whose gate is in the line, one after the other.
func maskEverything(text string) string {
	folded := strings.ToLower(text)
	for _, m := range masks {
		for _, gate := range m.gates {
			if strings.Contains(folded, gate) {
				text = m.re.ReplaceAllStringFunc(text, func(found string) string {
					if m.spare != nil && m.spare.MatchString(found) {
						return found
					}
					return m.re.ReplaceAllString(found, m.replace)
				})
				break
			}
		}
	}
	return text
}

func FuzzGatesOfMasks(f *testing.F) {
	for _, s := range []string{
		"git clone https://bob:s3cr3t@git.local/x", "tcp://a:29500 then https://u:p@h", "Authorization: Bearer abcdefgh.ijkl", "basicauth", "key AKIAIOSFODNN7EXAMPLE used",
		"HF_TOKEN=hf_abcdefghijklmnopqrstuv", "db password=hunter22, host=x", `{"client_secret": "abcd1234", "n": 1}`, `{"client_secret" : 'ab\'cd'}`, "got eyJhbGciOiJI.eyJzdWIi.abc-_",
		"run --token abc123def --lr 1", "--api-key=x", "PGPASSWORD=abc psql", "passwd=p,ass;word end", "AccountKey=abc+/==;x", "?sv=2020&sig=ab%2Fcd%3D&se=2030",
		"X-Amz-Signature=deadbeef", "tokens/s=31000", "secret secret secret_x-y : abcd", "Authorization: Token abcdef1234567890", "to\u212aen=abcdefghijklmnopqrstuvwxyz", "AP\u0130_KEY=abcdefgh",
		"a pa\u017f\u017fword=abcd", "api\u212aey=abcdefgh", "secret\u00e4=abcdefgh", "access-key-id\t= abcdefgh", "toktokentoken:\fabcdefghijklmnopqrstuvwxyz",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := Mask(text), maskEverything(text); got != want {
			t.Fatalf("%q is masked as %q, want %q", text, got, want)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	for name, line := range map[string]string{
		"step":    "2026-11-20T08:00:00.123456789Z [2026-11-20 08:00:00,123] [INFO] [trainer.py:88] step=1200, loss=2.0008, lr=0.0003, grad_norm=1.000, tokens/s=31042",
		"address": "[W1120 08:00:00 socket.cpp:752] [c10d] The client socket has failed to connect to [train-worker-0.train.ml.svc]:29500, tcp://train-worker-0:29500 (errno: 110)",
		"secret":  "db password=hunter22, host=x, and a long rest of the line that is no secret at all",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Mask(line)
			}
		})
	}
}

func TestEveryMaskHasABitAndEveryGateThreeBytes(t *testing.T) {
	if len(masks) > 64 {
		t.Errorf("there are %d masks; 64 have a bit", len(masks))
	}
	for i, m := range masks {
		for _, gate := range m.gates {
			if len(gate) < 3 || gate != strings.ToLower(gate) {
				t.Errorf("mask %d: gate %q is of less than three bytes or not in lower case", i, gate)
			}
		}
	}
}
