package serve

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/config"
)

func TestTheLogsLevelChangesWhileTheServerRuns(t *testing.T) {
	var out bytes.Buffer
	s := &server{}
	s.log, s.level = newLog(&out, config.Log{Level: "info", Format: "json"})
	ask := func(method, body string) (int, string) {
		r := httptest.NewRequest(method, "/debug/log", strings.NewReader(body))
		w := httptest.NewRecorder()
		s.debug().ServeHTTP(w, r)
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	s.log.V(1).Info("detail")
	if out.Len() > 0 {
		t.Errorf("at the level info the log says %s", &out)
	}
	if code, text := ask(http.MethodGet, ""); code != http.StatusOK || text != "info" {
		t.Errorf("the level is %d %q", code, text)
	}
	if code, text := ask(http.MethodPut, "debug\n"); code != http.StatusOK || text != "debug" {
		t.Errorf("setting debug: %d %q", code, text)
	}
	s.log.V(1).Info("detail")
	if !strings.Contains(out.String(), `"msg":"detail"`) {
		t.Errorf("at the level debug the log says %s", &out)
	}
	if code, text := ask(http.MethodPut, "loud"); code != http.StatusBadRequest || !strings.Contains(text, "debug, info, warn or error") {
		t.Errorf("setting loud: %d %q", code, text)
	}
}

func TestHealthSaysWhatHangs(t *testing.T) {
	s := &server{}
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		s.health().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if code, text := ask(); code != http.StatusOK {
		t.Errorf("with no part: %d %q", code, text)
	}
	s.alive = append(s.alive, func(context.Context) error { return errors.New("the view of the cluster does not answer") })
	if code, text := ask(); code != http.StatusServiceUnavailable || text != "the view of the cluster does not answer" {
		t.Errorf("with a part that hangs: %d %q", code, text)
	}
}
