package notify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// Form is the shape of what a receiver is sent.
type Form string

// The forms.
const (
	// FormAlertmanager is what Alertmanager sends to webhooks, version 4
	// (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config).
	FormAlertmanager Form = "alertmanager"
	// FormSlack is an incoming webhook's (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
	FormSlack Form = "slack"
	// FormGeneric is the failure as JSON, or what a template makes of it.
	FormGeneric Form = "generic"
)

// mostBody bounds one message: Slack takes 40,000 characters (https://docs.slack.dev/reference/methods/chat.postMessage).
const mostBody = 32 << 10

// alertName is the label by which Alertmanager's rules know these alerts.
const alertName = "SignalboxJobFailed"

// body is one message.
func (r *receiver) body(f Failure) ([]byte, error) {
	switch r.Form {
	case FormAlertmanager:
		return json.Marshal(alert(r.Name, f))
	case FormSlack:
		// What stands in a log is no text with a form of its own, and an address in it is looked up by nobody
		// (https://docs.slack.dev/messaging/unfurling-links-in-messages).
		return json.Marshal(map[string]any{"text": slack(f), "mrkdwn": false, "unfurl_links": false, "unfurl_media": false})
	case FormGeneric:
	}
	if r.template == nil {
		return json.Marshal(plain(f))
	}
	var out bounded
	if err := r.template.Execute(&out, f); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// bounded is a buffer that takes no more than a message may hold.
type bounded struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostBody {
		return 0, fmt.Errorf("the template makes more than %d bytes", mostBody)
	}
	return b.Buffer.Write(p)
}

// Wrong is what is wrong with a receiver's template; nil: it can be filled in.
func Wrong(r Receiver) error {
	_, err := parse(r.Template)
	return err
}

// parse reads a template of an operator's own. json writes a value as JSON, so that a text cannot end its string.
func parse(text string) (*template.Template, error) {
	if text == "" {
		return nil, nil
	}
	t, err := template.New("template").Option("missingkey=error").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			out, err := json.Marshal(v)
			return string(out), err
		},
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	made := func(f Failure) (string, error) {
		var out bounded
		err := t.Execute(&out, f)
		return out.String(), err
	}
	simple, err := made(Failure{}) // a name that a Failure lacks is an error now
	if err != nil || !json.Valid([]byte(simple)) {
		return t, err
	}
	const mark = "\\\"\n" // what a log may say
	if hard, err := made(Failure{Error: mark, Analysis: mark, Solution: mark}); err == nil && !json.Valid([]byte(hard)) {
		return nil, errors.New("a quotation mark in a text ends its string, so that a log may write into the message; write {{json .Error}}, without quotation marks around it")
	}
	return t, nil
}

// plain is the failure as JSON.
func plain(f Failure) map[string]any {
	return map[string]any{
		"apiVersion": "signalbox.dev/notification/v1", "status": status(f),
		"kind": f.Kind, "namespace": f.Namespace, "name": f.Name, "uid": f.UID,
		"verdict": f.Verdict, "category": f.Category, "error": f.Error, "analysis": f.Analysis, "solution": f.Solution,
		"at": f.At.UTC().Format(time.RFC3339),
	}
}

func status(f Failure) string {
	if f.Over {
		return "resolved"
	}
	return "firing"
}

// summary is one line about a failure.
func summary(f Failure) string {
	if f.Over {
		return fmt.Sprintf("%s %s/%s: what was wrong is over", f.Kind, f.Namespace, f.Name)
	}
	what := cmp.Or(f.Error, f.Analysis, "it is not known what is wrong")
	if f.Category != "" {
		what = f.Category + ": " + what
	}
	return fmt.Sprintf("%s %s/%s: %s", f.Kind, f.Namespace, f.Name, strings.Join(strings.Fields(what), " ")) // else what a log says may look like what is said of another job
}

func alert(receiver string, f Failure) map[string]any {
	labels := map[string]string{
		"alertname": alertName, "namespace": f.Namespace, "kind": f.Kind, "name": f.Name, "verdict": f.Verdict, "severity": "warning",
	}
	if f.Category != "" {
		labels["category"] = f.Category
	}
	said := map[string]string{"summary": summary(f)}
	for key, text := range map[string]string{"description": f.Analysis, "solution": f.Solution} {
		if text != "" {
			said[key] = text
		}
	}
	group := map[string]string{"alertname": alertName, "namespace": f.Namespace}
	at, end := f.At.UTC().Format(time.RFC3339), "0001-01-01T00:00:00Z" // Alertmanager's for one that has not ended
	if f.Over {
		end = at
	}
	return map[string]any{
		"version": "4", "groupKey": fmt.Sprintf(`{}:{alertname=%q, namespace=%q}`, alertName, f.Namespace), "truncatedAlerts": 0,
		"status": status(f), "receiver": receiver, "groupLabels": group, "commonLabels": labels, "commonAnnotations": said, "externalURL": "",
		"alerts": []any{map[string]any{
			"status": status(f), "labels": labels, "annotations": said, "startsAt": at, "endsAt": end, "generatorURL": "", "fingerprint": f.UID,
		}},
	}
}

// escaped are the three characters that Slack reads (https://docs.slack.dev/messaging/formatting-message-text#escaping):
// with them a log line could name everybody of a channel.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func slack(f Failure) string {
	out := escaped.Replace(summary(f))
	if f.Solution != "" && !f.Over {
		out += "\n" + escaped.Replace(f.Solution)
	}
	return out
}
