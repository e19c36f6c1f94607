package serve

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"
)

// debug answers whoever is on the machine, or in the pod: profiles, and the level of the log, which a PUT sets
// until the process ends. The configuration lets it listen on loopback addresses only.
func (s *server) debug() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/log", func(w http.ResponseWriter, _ *http.Request) { s.tellLevel(w) })
	mux.HandleFunc("PUT /debug/log", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(io.LimitReader(r.Body, 16))
		var level slog.Level
		if err == nil {
			err = level.UnmarshalText([]byte(strings.TrimSpace(string(text))))
		}
		if err != nil {
			http.Error(w, fmt.Sprintf("%q is no level of the log; write debug, info, warn or error", text), http.StatusBadRequest)
			return
		}
		s.level.Set(level)
		s.log.Info("the level of the log is set", "level", level)
		s.tellLevel(w)
	})
	return mux
}

func (s *server) tellLevel(w io.Writer) {
	_, _ = fmt.Fprintln(w, strings.ToLower(s.level.Level().String())) // the caller may have gone
}
