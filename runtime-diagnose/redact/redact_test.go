package redact_test

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

func TestSecretsAreMasked(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"credentials in a URL":       {"git clone https://bob:s3cr3t@git.local/x", "git clone https://[masked]@git.local/x"},
		"bearer":                     {"Authorization: Bearer abcdefgh.ijkl", "Authorization: Bearer [masked]"},
		"AWS key":                    {"key AKIAIOSFODNN7EXAMPLE used", "key [masked] used"},
		"Hugging Face token":         {"HF_TOKEN=hf_abcdefghijklmnopqrstuv", "HF_TOKEN=[masked]"},
		"password setting":           {"db password=hunter22, host=x", "db password=[masked], host=x"},
		"secret in JSON":             {`{"client_secret": "abcd1234", "n": 1}`, `{"client_secret": "[masked]", "n": 1}`},
		"JSON web token":             {"got eyJhbGciOiJI.eyJzdWIi.abc-_", "got [masked]"},
		"option":                     {"run --token abc123def --lr 1", "run --token [masked] --lr 1"},
		"password of several words":  {`connect(password="my s3cret pass", host=x)`, `connect(password="[masked]", host=x)`},
		"in single quotes":           {`{'api_key': 'ab\'cd ef', 'n': 1}`, `{'api_key': '[masked]', 'n': 1}`},
		"with a quote in it":         {`{"password": "ab\"cd", "n": 1}`, `{"password": "[masked]", "n": 1}`},
		"short password":             {"PGPASSWORD=abc psql", "PGPASSWORD=[masked] psql"},
		"password with commas":       {"passwd=p,ass;word end", "passwd=[masked] end"},
		"Azure account":              {"AccountName=me;AccountKey=abc+/==;EndpointSuffix=core", "AccountName=me;AccountKey=[masked];EndpointSuffix=core"},
		"Azure signature":            {"https://a.blob.core.windows.net/c?sv=2020&sig=ab%2Fcd%3D&se=2030", "https://a.blob.core.windows.net/c?sv=2020&sig=[masked]&se=2030"},
		"AWS signature":              {"https://b/c?X-Amz-Date=1&X-Amz-Signature=deadbeef", "https://b/c?X-Amz-Date=1&X-Amz-Signature=[masked]"},
		"Google key":                 {"key AIzaSyA1234567890abcdefghijklmnopqrstuv!", "key [masked]!"},
		"npm and Docker":             {"npm_abcdefghijklmnopqrstuvwxyz0123456789 dckr_pat_abcdefghijklmnopqrstuvwx", "[masked] [masked]"},
		"token authorization":        {"Authorization: Token abcdef1234567890", "Authorization: Token [masked]"},
		"an exception by that name":  {"botocore.exceptions.PartialCredentialsError: 'x' missing", "botocore.exceptions.PartialCredentialsError: 'x' missing"},
		"an empty password":          {`password="" host=x`, `password="" host=x`},
		"a secret that is not there": {`couldn't find secret: not found`, `couldn't find secret: not found`},
		"pad_token is no secret":     {"pad_token: <pad>, eos_token_id=2", "pad_token: <pad>, eos_token_id=2"},
		"a Secret's name":            {`secret "hf-token" not found`, `secret "hf-token" not found`},
		"a volume of a Secret":       {`for volume "db-secret" : secret "db" not found`, `for volume "db-secret" : secret "db" not found`},
		"a volume of a driver":       {`for volume "secrets-store" : kubernetes.io/csi: no client`, `for volume "secrets-store" : kubernetes.io/csi: no client`},
		"a secret after a blank":     {`"password" : hunter22`, `"password" : [masked]`},
		"what it is not":             {"a basic understanding, Bearer authentication failed, token is expired", "a basic understanding, Bearer authentication failed, token is expired"},
		"a key that is missing":      {"couldn't find key password in Secret ml/db", "couldn't find key password in Secret ml/db"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := redact.Line(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Line (-want +got):\n%s", diff)
			}
			if again := redact.Line(got); again != got {
				t.Errorf("masked twice: %q, then %q", got, again)
			}
		})
	}
}

// What nobody sees may hide a name from a reader, and what a terminal obeys may show another text.
func TestWhatNobodySeesIsRemoved(t *testing.T) {
	for have, want := range map[string]string{
		"image \u202egpj.exe\u202c":       "image gpj.exe",
		"a\u200bb\u2066c\ufeff\u00ad":     "abc",
		"pass\u200dword=hunter22":         "password=[masked]",
		"\u009b31mred":                    "31mred",
		"tag \U000E0041 \x1b]0;t\a x\x00": "tag   x",
		"显存 plain":                        "显存 plain",
	} {
		if got := redact.Text(have); got != want {
			t.Errorf("%q is written as %q, want %q", have, got, want)
		}
	}
}

func FuzzLineTwice(f *testing.F) {
	f.Add("password=abcd1234 token: abcdefghijklmnopqrstuvwxyz https://a:b@c Bearer abcdefghij --token x secret=[masked")
	f.Fuzz(func(t *testing.T, text string) {
		once := redact.Line(text)
		if twice := redact.Line(once); twice != once {
			t.Fatalf("%q is masked as %q, and that as %q", text, once, twice)
		}
	})
}

func FuzzTextTwice(f *testing.F) {
	f.Add("password:\nabcd1234\n-----BEGIN PRIVATE KEY-----\nx\n- name: A_TOKEN\n  value: abcdefgh1234\n")
	f.Fuzz(func(t *testing.T, text string) {
		once := redact.Text(text)
		if twice := redact.Text(once); twice != once {
			t.Fatalf("%q is masked as %q, and that as %q", text, once, twice)
		}
	})
}

// How a reader hands a log over changes nothing.
func FuzzCopyInPieces(f *testing.F) {
	f.Add("password:\nabcd1234\n-----BEGIN PRIVATE KEY-----\nx\n\x1b[1mtoken\x1b[0m=abcdefgh1234567890\n", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		var whole, pieces strings.Builder
		_, err := redact.Copy(&whole, strings.NewReader(text))
		_, err2 := redact.Copy(&pieces, &inPieces{strings.NewReader(text), max(1, n%64)})
		if err != nil || err2 != nil || whole.String() != pieces.String() {
			t.Fatalf("%v, %v: %q and %q", err, err2, whole.String(), pieces.String())
		}
	})
}

// inPieces reads n bytes at a time.
type inPieces struct {
	r io.Reader
	n int
}

func (p *inPieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// ordinary are lines as training prints them.
var ordinary = strings.Repeat(`2026-11-20T08:00:00.123456789Z [2026-11-20 08:00:00,123] [INFO] [trainer.py:88] step=1200, loss=2.0008, lr=0.0003, grad_norm=1.000, tokens/s=31042
train-worker-3:128:940 [3] NCCL INFO Channel 02/0 : 3[9f000] -> 4[1b000] [send] via NET/IB/0/GDRDMA
[W1120 08:00:00 socket.cpp:752] [c10d] The client socket has failed to connect to [train-worker-0.train.ml.svc]:29500 (errno: 110)
 41%|####1     | 4100/10000 [12:30<17:59,  5.47it/s, v_num=3, train_loss=1.230]
`, 256)

func BenchmarkLine(b *testing.B) {
	for name, line := range map[string]string{
		"step":    "2026-11-20T08:00:00.123456789Z [2026-11-20 08:00:00,123] [INFO] [trainer.py:88] step=1200, loss=2.0008, lr=0.0003, grad_norm=1.000, tokens/s=31042",
		"address": "[W1120 08:00:00 socket.cpp:752] [c10d] The client socket has failed to connect to [train-worker-0.train.ml.svc]:29500, tcp://train-worker-0:29500 (errno: 110)",
		"secret":  "db password=hunter22, host=x, and a long rest of the line that is no secret at all",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				redact.Line(line)
			}
		})
	}
}
