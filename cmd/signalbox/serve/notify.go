package serve

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/config/mounted"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/notify"
)

func notifications() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_notifications_total", Help: "Notifications of failures, by receiver and result: sent, failed (after five attempts, or refused), dropped (256 waited).",
	}, []string{"receiver", "result"})
}

// notifier tells those of the configuration; nil: there are none.
func (s *server) notifier() (*notify.Notifier, error) {
	counts := notifications()
	var receivers []notify.Receiver
	for _, r := range s.settings.Notifications.Receivers {
		to := notify.Receiver{
			Name: r.Name, Form: notify.Form(r.Form), Namespaces: r.Namespaces, Template: r.Template, CAFile: r.CAFile,
			URL: func() (string, error) { return r.URL, nil },
		}
		if r.URLFile != "" {
			to.URL = fileText(r.URLFile)
		}
		if r.TokenFile != "" {
			to.Token = fileText(r.TokenFile)
		}
		receivers = append(receivers, to)
		for _, result := range []string{notify.Sent, notify.Failed, notify.Dropped} {
			counts.WithLabelValues(r.Name, result) // the first one is an increase, too
		}
	}
	n, err := notify.New(notify.Options{
		Receivers: receivers, Count: func(receiver, result string) { counts.WithLabelValues(receiver, result).Inc() },
		Log: slog.New(logr.ToSlogHandler(s.log.WithName("notifications"))),
	})
	if err != nil {
		return nil, shell.Usagef("read notifications: %w", err)
	}
	if n == nil {
		return nil, nil
	}
	if err := s.registry.Register(counts); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return n, nil
}

// fileText is what a file holds at the time: a mounted Secret may be renewed.
func fileText(path string) func() (string, error) {
	return func() (string, error) {
		text, err := mounted.Read(path)
		return string(text), err
	}
}

// failureOf is what others are told of a diagnosis: what the rules say, and nothing of a model.
func failureOf(n controller.Notice) notify.Failure {
	r := n.Result
	return notify.Failure{
		Kind: n.Job.GetKind(), Namespace: n.Job.GetNamespace(), Name: n.Job.GetName(), UID: string(n.Job.GetUID()),
		Verdict: string(r.Verdict), Category: r.Category, Error: r.Error, Analysis: r.Analysis, Solution: strings.Join(r.Solution, "\n"),
		Fingerprint: cmp.Or(n.Fingerprint, string(r.Verdict)), At: time.Now(), Over: n.Over,
	}
}
