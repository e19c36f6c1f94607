package controller

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/signalbox-dev/signalbox/config"
)

// askWithin bounds one question about GPUs.
const askWithin = 10 * time.Second

// gpuUse asks a Prometheus how busy GPUs were. The query's placeholders are $namespace, $pods (a
// regular expression) and $over (a duration).
func gpuUse(c config.Prometheus) (func(context.Context, string, []string, time.Duration) (Use, error), error) {
	if c.URL == "" {
		return nil, nil
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read diagnosis.running.prometheus.caFile: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read diagnosis.running.prometheus.caFile: %s holds no certificate (PEM)", c.CAFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	client, err := api.NewClient(api.Config{Address: c.URL, RoundTripper: bearer{c.TokenFile, transport}})
	if err != nil {
		return nil, fmt.Errorf("read diagnosis.running.prometheus.url: %w", err)
	}
	ask := prometheusv1.NewAPI(client)
	return func(ctx context.Context, namespace string, pods []string, over time.Duration) (Use, error) {
		ctx, cancel := context.WithTimeout(ctx, askWithin)
		defer cancel()
		value, _, err := ask.Query(ctx, fillQuery(c.Query, namespace, pods, over), time.Time{})
		if err != nil {
			return Use{}, fmt.Errorf("ask Prometheus for the use of GPUs: %w", err)
		}
		return useOf(value)
	}, nil
}

// bearer puts the token of a file into every request; it is read anew, because tokens change.
type bearer struct {
	file string
	next http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.file == "" {
		return b.next.RoundTrip(r)
	}
	token, err := os.ReadFile(b.file)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	return b.next.RoundTrip(r)
}

// fillQuery quotes what goes into strings of PromQL, where a backslash is written twice.
func fillQuery(query, namespace string, pods []string, over time.Duration) string {
	quoted := make([]string, len(pods))
	for i, p := range pods {
		quoted[i] = strings.ReplaceAll(regexp.QuoteMeta(p), `\`, `\\`)
	}
	return strings.NewReplacer(
		"$namespace", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(namespace),
		"$pods", strings.Join(quoted, "|"), "$over", model.Duration(over).String(),
	).Replace(query)
}

// useOf reads one value for each pod. A Prometheus that relabels calls the pod exported_pod, and
// its own exporter pod.
func useOf(value model.Value) (Use, error) {
	vector, ok := value.(model.Vector)
	if !ok {
		return Use{}, fmt.Errorf("ask Prometheus for the use of GPUs: the answer is a %s; expected a vector with one value for each pod", value.Type())
	}
	pods, out := map[model.LabelValue]bool{}, Use{}
	for _, s := range vector {
		name := s.Metric["exported_pod"]
		if name == "" {
			name = s.Metric["pod"]
		}
		if name == "" {
			return Use{}, fmt.Errorf("ask Prometheus for the use of GPUs: a value without pod: %s", s.Metric)
		}
		pods[name] = true
		out.Most = max(out.Most, float64(s.Value)) // NaN stays: nothing is below it
	}
	out.Pods = len(pods)
	return out, nil
}
