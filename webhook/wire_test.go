package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/signalbox-dev/signalbox/preflight"
)

// Whatever is written to the port, in whatever form: it is answered or hung up on, nothing but a review is reviewed, and each review
// once.
func TestWhatIsWrittenToThePort(t *testing.T) {
	reviewed := make(chan string, 1000)
	h := handler(func(_ context.Context, r preflight.Request) (preflight.Report, error) {
		reviewed <- r.User
		return preflight.Report{Decision: preflight.Allowed, Ran: 1}, nil
	}, world{})
	w := &Webhook{o: Options{Certificates: serving{certificate: signed(t, "webhook")}}, handler: h}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", w.tls())
	if err != nil {
		t.Fatal(err)
	}
	server := w.server(newConnections(mostConnections))
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: reviewType, Request: request()})
	if err != nil {
		t.Fatal(err)
	}
	review := string(text)
	of := func(length int, body string, lines ...string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", Path, strings.Join(lines, ""), length, body)
	}
	whole := of(len(review), review)
	chunked := func(behind string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n%s", Path, len(review), review, behind)
	}
	for name, tc := range map[string]struct {
		sent    string
		want    []int // statuses, one after another
		reviews int
	}{
		"a review":                        {whole, []int{200}, 1},
		"three at once":                   {whole + whole + whole, []int{200, 200, 200}, 3},
		"a thousand heads, and no review": {strings.Repeat("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 1000), slicesOf(404, 1000), 0},
		"HTTP/2":                          {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", []int{400}, 0},
		"a wish for HTTP/2":               {of(len(review), review, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"), []int{200}, 1},
		"a wish for another protocol":     {of(len(review), review, "Connection: Upgrade\r\nUpgrade: websocket\r\n"), []int{200}, 1},
		"a length that is too short":      {of(len(review)-1, review), []int{200}, 0},
		"a length that is too long":       {of(len(review)+10, review), []int{400}, 0},
		"two lengths":                     {of(len(review), review, "Content-Length: 3\r\n"), []int{400}, 0},
		"a length, and chunks":            {of(3, "", "Transfer-Encoding: chunked\r\n") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(review), review), []int{200}, 1},
		"chunks of chunks":                {strings.Replace(chunked("\r\n"), "chunked", "chunked, chunked", 1), []int{501}, 0},
		"chunks":                          {chunked("\r\n"), []int{200}, 1},
		"chunks with trailers":            {chunked("Content-Length: 3\r\nUser: root\r\n\r\n"), []int{200}, 1},
		"trailers without end":            {chunked(strings.Repeat("Trailer: "+strings.Repeat("x", 1000)+"\r\n", 100) + "\r\n"), []int{400}, 0},
		"a head of 100 KB":                {of(len(review), review, strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 100)), []int{431}, 0},
		"many short lines in the head":    {of(len(review), review, strings.Repeat("a:\r\n", 30_000)), []int{431}, 0},
		"no host":                         {"POST / HTTP/1.1\r\n\r\n", []int{400}, 0},
		"no HTTP":                         {"\x16\x03\x01 hello\r\n\r\n", []int{400}, 0},
		"a proxy's request":               {"CONNECT kubernetes.default:443 HTTP/1.1\r\nHost: kubernetes.default:443\r\n\r\n", []int{404}, 0},
		"another place":                   {strings.Replace(whole, Path, Path+"/../metrics", 1), []int{307}, 0},
		"a body where none is":            {strings.Replace(whole, "POST "+Path, "GET /", 1), []int{404}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() {
				_, _ = io.WriteString(conn, tc.sent) // the server may have had enough
				if tc.want[0] == http.StatusBadRequest {
					_ = conn.CloseWrite() // what is waited for does not come
				}
			}()
			answers, got := bufio.NewReader(conn), []int{}
			for len(got) < len(tc.want) {
				resp, err := http.ReadResponse(answers, nil)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				got = append(got, resp.StatusCode)
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("answered %v; want %v", got[:min(len(got), 5)], tc.want[:min(len(tc.want), 5)])
			}
			if n := len(reviewed); n != tc.reviews {
				t.Errorf("%d were reviewed; want %d", n, tc.reviews)
			}
			for len(reviewed) > 0 {
				<-reviewed
			}
		})
	}
	for name, config := range map[string]*tls.Config{
		"only HTTP/2":              {NextProtos: []string{"h2"}},
		"TLS that negotiates anew": {MaxVersion: tls.VersionTLS12, Renegotiation: tls.RenegotiateFreelyAsClient},
	} {
		config.InsecureSkipVerify = true
		if conn, err := tls.Dial("tcp", listener.Addr().String(), config); err == nil {
			_ = conn.Close()
			t.Errorf("%s is spoken", name)
		}
	}
}

func slicesOf(status, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = status
	}
	return out
}
