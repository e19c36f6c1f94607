package collect

import (
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Life is one life of one container that runs.
type Life struct {
	Pod       *corev1.Pod
	Container string
	Restart   int32
}

// Key names the life.
func (l Life) Key() string { return fmt.Sprintf("%s/%s#%d", l.Pod.UID, l.Container, l.Restart) }

// Tails reads what containers have printed since they were read last, by life; of one that was
// not, the end. What cannot be read is empty. One look costs at most endBytes for each.
func (c *Cluster) Tails(ctx context.Context, lives []Life, since map[string]time.Time) [][]byte {
	out := make([][]byte, len(lives))
	var g errgroup.Group
	g.SetLimit(c.Limits.withDefaults().Parallel)
	for i, l := range lives {
		var from *metav1.Time
		if at, ok := since[l.Key()]; ok {
			// A little earlier, because clocks differ; what comes twice is recognised by its time.
			from = new(metav1.NewTime(at.Add(-10 * time.Second)))
		}
		g.Go(func() error {
			one, cancel := context.WithTimeout(ctx, oneLog)
			defer cancel()
			get := getter(one, c.Kube, LogRef{Namespace: l.Pod.Namespace, Pod: l.Pod.Name, Container: l.Container})
			out[i], _, _ = readTail(func(o corev1.PodLogOptions) (io.ReadCloser, error) {
				o.SinceTime = from
				return get(o)
			}, Limits{TailLines: pulseLines, TailBytes: pulseBytes}, endMost) // what came is enough; else the next look asks again
			return nil
		})
	}
	_ = g.Wait() // no read fails
	return out
}

// The end of a log that counts steps.
const (
	pulseLines = 200
	pulseBytes = 32 << 10
)
