package redact_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// texts are what logs hold beside clean lines, and lines made to keep the rules busy: each is about a mebibyte.
func texts() map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	bytes := make([]byte, 1<<20)
	for i := range bytes {
		bytes[i] = byte(r.Uint32())
	}
	dense := base64.StdEncoding.EncodeToString(bytes[:768<<10])
	wrapped := func(text string, n int) string {
		var b strings.Builder
		for ; len(text) > n; text = text[n:] {
			b.WriteString(text[:n] + "\n")
		}
		return b.String()
	}
	lines := func(one func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < 1<<20; i++ {
			b.WriteString(one(i) + "\n")
		}
		return b.String()
	}
	hash := func(n int) string {
		b := make([]byte, n/2)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return fmt.Sprintf("%x", b)
	}
	return map[string]string{
		"steps": strings.Repeat(ordinary, 6),
		"JSON": lines(func(i int) string {
			return fmt.Sprintf(`{"ts":"2026-11-20T08:00:00.%06dZ","level":"info","logger":"trainer.loop","msg":"step done","step":%d,"loss":%.4f,"tokens_per_s":31042,"tokens":%d,"session":"run-%d","user":{"id":%d,"authenticated":true},"keys":["a","b"],"trace_id":"%s"}`, i, i, 2.0, i*4096, i%9, i, hash(32))
		}),
		"JSON in JSON": lines(func(i int) string {
			return fmt.Sprintf(`{"log":"{\"level\":\"warn\",\"msg\":\"retry\",\"key\":\"shard-%d\",\"attempt\":%d,\"token_count\":%d}\n","stream":"stderr","time":"2026-11-20T08:00:00Z"}`, i, i%5, i*7)
		}),
		"URLs": lines(func(i int) string {
			return fmt.Sprintf("Downloading https://huggingface.co/org/model-%d/resolve/main/model-%05d-of-00096.safetensors?download=true&part=%d from https://cdn-lfs.hf.co/repos/%s to /root/.cache/%d", i, i%96, i, hash(64), i)
		}),
		"hashes": lines(func(i int) string { return hash(64) + "  data/part-" + fmt.Sprint(i) + ".parquet  " + hash(40) }),
		"tracebacks": lines(func(i int) string {
			return fmt.Sprintf("  File \"/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py\", line %d, in _call_impl\n    return forward_call(*args, **kwargs)\n    self.tokenizer.pad_token_id = self.config.pad_token_id or kwargs.get(\"key\", None)", i)
		}),
		"progress": strings.Repeat("\r\x1b[36mEpoch 3\x1b[0m:  41%|\u2588\u2588\u2588\u2588\u258f     | 4100/10000 [12:30<17:59,  5.47it/s, loss=1.230]", 8000) + "\n",
		"Chinese": lines(func(i int) string {
			return fmt.Sprintf("2026-11-20 08:00:00 信息 训练第 %d 步完成，损失 2.0，学习率 0.0003，已保存检查点，密码学模块未启用", i)
		}),
		"manifests": lines(func(i int) string {
			return fmt.Sprintf("        - name: SETTING_%d\n          valueFrom:\n            secretKeyRef:\n              name: train-%d\n              key: token-%d", i, i, i)
		}),
		"secrets": lines(func(i int) string {
			return fmt.Sprintf("db password=hunter%d, host=x, Authorization: Bearer %s", i, hash(40))
		}),
		"base64 76":          wrapped(dense, 76),
		"base64 one line":    dense + "\n",
		"hex one line":       hash(1<<20) + "\n",
		"words one line":     strings.Repeat("the quick brown fox jumps over the lazy dog ", 24000) + "\n",
		"JSON one line":      "[" + strings.Repeat(`{"key":"a1","token":7,"auth":null,"name":"x"},`, 22000) + "{}]\n",
		"gates":              strings.Repeat("token key pass secret auth session cookie ", 25000) + "\n",
		"names and signs":    strings.Repeat("key: token: pass: auth= ", 43000) + "\n",
		"schemes":            strings.Repeat("http://a", 130000) + "\n",
		"schemes and users":  strings.Repeat("://a:b", 170000) + "\n",
		"open quotations":    strings.Repeat(`password="a `, 87000) + "\n",
		"escaped quotations": strings.Repeat(`\"token\":\"`, 100000) + "\n",
		"lists":              "password=[" + strings.Repeat(`"a",`, 250000) + "\n",
		"tokens without end": strings.Repeat("eyJhbGci", 130000) + "\n",
		"points":             strings.Repeat("eyJhbGciOiJI.", 80000) + "\n",
		"key bodies":         strings.Repeat("MII/MII+", 130000) + "\n",
		"begins":             strings.Repeat("-----BEGIN PRIVATE KEY ", 45000) + "\n",
		"commands":           strings.Repeat("mysql curl openssl echo zip redis-cli ", 27000) + "\n",
		"here strings":       strings.Repeat("<<< login ", 100000) + "\n",
		"DSNs":               strings.Repeat("a@tcp(", 170000) + "\n",
		"cookies":            "Cookie: " + strings.Repeat("a=b; ", 200000) + "\n",
		"Authorizations":     strings.Repeat("authorization: a ", 60000) + "\n",
		"encoded":            strings.Repeat("cGFzc3dvcmQ", 95000) + "\n",
		"encoded words":      strings.Repeat("cGFzc3dvcmQgYWJjZGVmZ2hpag== ", 36000) + "\n",
		"AWS":                strings.Repeat("AKIAIOSFODNN7EXAMPLE ", 50000) + "\n",
		"key is blank":       strings.Repeat("api key ", 130000) + "\n",
		"blanks":             "password" + strings.Repeat(" ", 1<<20) + "\n",
		"dashes":             strings.Repeat("-token", 170000) + "\n",
		"dots":               strings.Repeat(".acc_.atlasv1.0q~", 60000) + "\n",
		"invisible":          strings.Repeat("pass\u200bword ", 80000) + "\n",
		"escapes":            strings.Repeat("\x1b]0;a", 200000) + "\n",
	}
}

// TestALineTakesTimeAsItsLength: lines in which a value seems to begin in many places, and each time to go on to the end. An
// author may write one into an annotation, which is masked before a policy reads it, and a job into its log.
func TestALineTakesTimeAsItsLength(t *testing.T) {
	const length = 200_000
	of := func(text string) string { return strings.Repeat(text, length/len(text)) }
	for name, text := range map[string]string{
		"assigned":               of("secret="),
		"assigned, of passwords": of("password="),
		"assigned by turns":      of("password=token:"),
		"of settings":            of("${PASSWORD:-"),
		"of a connection":        of("AccountKey="),
		"behind colons":          of("token:"),
		"in addresses":           of("?sig="),
		"beside keys":            of("AKIAIOSFODNN7EXAMPLE/"),
		"of two forms by turns":  of("-sk-glpat-"),
		"of several languages":   of("senha:$"),
		"before marks":           of("password=")[:length/2] + strings.Repeat(";", length/2),
		"before brackets":        of("password=" + strings.Repeat("[", 50)),
		"before blanks":          of("a.token b ")[:length/2] + strings.Repeat(" ", length/2) + "x",
		"that are split":         of("pass\u200bword="),
	} {
		begun := time.Now()
		redact.Text(text)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("values %s: %d bytes took %v", name, len(text), took)
		}
	}
}

// processor is how long this process has had a processor: what a busy machine takes away does not count.
func processor(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkCopy is how fast a log is masked, by what it holds.
func BenchmarkCopy(b *testing.B) {
	for name, text := range texts() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			before := processor(b)
			for b.Loop() {
				if _, err := redact.Copy(io.Discard, strings.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(text))*float64(b.N)/1e6/(processor(b)-before).Seconds(), "MB/cpu-s")
		})
	}
}
