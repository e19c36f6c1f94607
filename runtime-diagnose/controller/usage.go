package controller

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/config/bounded"
	"github.com/signalbox-dev/signalbox/config/mounted"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// askWithin bounds all questions about one job.
const askWithin = 10 * time.Second

// mostAskedPods is how many pods a question is about at most: their names are one regular expression.
const mostAskedPods = 1024

// Usage is what the pods of a job used, on average over a time. A pod or a node that is not in a map is one
// of which that is unknown.
type Usage struct {
	GPU       map[string]float64 // percent, of the busiest of a pod's GPUs
	CPU       map[string]float64 // cores
	Throttled map[string]float64 // percent of the scheduler's periods in which a limit held the CPU back
	Memory    map[string]float64 // bytes in use at the highest: the working set
	OfLimit   map[string]float64 // the same, in percent of the limit
	Network   map[string]float64 // bytes a second, both ways; what goes by RDMA is not counted
	Disk      map[string]float64 // bytes a second read and written

	NodeDisk    map[string]float64 // by node: percent of the time that its busiest disk had work
	NodeNetwork map[string]float64 // by node: percent of its busiest interface's speed
}

// UsageOf is what is asked about: pods of one namespace, the nodes that they are on, and over how long.
type UsageOf struct {
	Namespace   string
	Pods, Nodes []string
	Over        time.Duration
}

// usage asks a Prometheus what pods used. The queries' placeholders are $namespace, $pods and $nodes
// (regular expressions) and $over (a duration). What cannot be answered is unknown, and the error says why.
func usage(c config.Prometheus) (func(context.Context, UsageOf) (Usage, error), error) {
	if c.URL == "" {
		return nil, nil
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.CAFile != "" {
		roots, err := mounted.Certificates(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read diagnosis.running.prometheus.caFile: %w", err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	client, err := api.NewClient(api.Config{Address: c.URL, Client: &http.Client{
		Transport:     bearer{c.TokenFile, boundedAnswers{transport}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a token goes where it was meant to
	}})
	if err != nil {
		return nil, errors.New("read diagnosis.running.prometheus.url: it is no address")
	}
	ask := prometheusv1.NewAPI(client)
	return func(ctx context.Context, a UsageOf) (Usage, error) {
		if len(a.Pods) > mostAskedPods {
			return Usage{}, fmt.Errorf("ask Prometheus: the job has %d pods; it is asked about %d at most", len(a.Pods), mostAskedPods)
		}
		ctx, cancel := context.WithTimeout(ctx, askWithin)
		defer cancel()
		var u Usage
		var errs []error
		for _, q := range []struct {
			of    string
			query string
			into  *map[string]float64
		}{
			{"GPUs", c.Query, &u.GPU},
			{"CPU", c.Queries.CPU, &u.CPU},
			{"CPU limits", c.Queries.Throttled, &u.Throttled},
			{"memory", c.Queries.Memory, &u.Memory},
			{"memory limits", c.Queries.MemoryOfLimit, &u.OfLimit},
			{"networks", c.Queries.Network, &u.Network},
			{"disks", c.Queries.Disk, &u.Disk},
			{"nodes' disks", c.Queries.NodeDisk, &u.NodeDisk},
			{"nodes' networks", c.Queries.NodeNetwork, &u.NodeNetwork},
		} {
			if q.query == "" || ctx.Err() != nil {
				continue
			}
			value, _, err := ask.Query(ctx, fillQuery(q.query, a), time.Time{}, prometheusv1.WithLimit(2*mostAskedPods))
			if err == nil {
				*q.into, err = perName(value)
			}
			if wrapped, ok := errors.AsType[*url.Error](err); ok {
				err = wrapped.Err // the address may hold a password
			}
			if err != nil {
				// What the server says may be long, and is for no terminal to obey.
				errs = append(errs, fmt.Errorf("ask Prometheus for the use of %s: %s", q.of, words.OneLine(redact.Clean(err.Error()), 256)))
			}
		}
		return u, errors.Join(errs...)
	}, nil
}

// mostUsage is how many bytes one answer may have: twice as many series as pods are asked about, of four kilobytes of labels.
const mostUsage = 8 << 20

// boundedAnswers ends what a server sends without end.
type boundedAnswers struct{ next http.RoundTripper }

func (b boundedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = bounded.Body(resp.Body, mostUsage, "the answer")
	}
	return resp, err
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
	token, err := mounted.Read(b.file)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	return b.next.RoundTrip(r)
}

// fillQuery quotes what goes into strings of PromQL, where a backslash is written twice.
func fillQuery(query string, a UsageOf) string {
	anyOf := func(names []string) string {
		quoted := make([]string, len(names))
		for i, n := range names {
			quoted[i] = strings.ReplaceAll(regexp.QuoteMeta(n), `\`, `\\`)
		}
		return strings.Join(quoted, "|")
	}
	return strings.NewReplacer(
		"$namespace", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a.Namespace),
		"$pods", anyOf(a.Pods), "$nodes", anyOf(a.Nodes), "$over", model.Duration(a.Over).String(),
	).Replace(query)
}

// perName reads one value for each pod or node. A Prometheus that relabels calls the pod exported_pod, and
// its own exporter pod. What is not a number, or without end, is unknown.
func perName(value model.Value) (map[string]float64, error) {
	vector, ok := value.(model.Vector)
	if !ok {
		return nil, fmt.Errorf("the answer is a %s; expected a vector with one value for each pod or node", value.Type())
	}
	out := map[string]float64{}
	for _, s := range vector {
		name := ""
		for _, label := range []model.LabelName{"exported_pod", "pod", "nodename"} {
			if name == "" {
				name = string(s.Metric[label])
			}
		}
		if name == "" {
			return nil, fmt.Errorf("a value without pod or nodename: %s", s.Metric)
		}
		if v := float64(s.Value); !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[name] = max(out[name], v)
		}
	}
	return out, nil
}
