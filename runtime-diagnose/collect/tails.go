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
		lines := int64(pulseLines)
		options := &corev1.PodLogOptions{Container: l.Container, Timestamps: true, TailLines: &lines}
		if at, ok := since[l.Key()]; ok {
			// A little earlier, because clocks differ; what comes twice is recognised by its time.
			from := metav1.NewTime(at.Add(-10 * time.Second))
			options.SinceTime = &from
		}
		g.Go(func() error {
			one, cancel := context.WithTimeout(ctx, oneLog)
			defer cancel()
			in, err := c.Kube.CoreV1().Pods(l.Pod.Namespace).GetLogs(l.Pod.Name, options).Stream(one)
			if err != nil {
				return nil // the next look asks again
			}
			defer in.Close()
			end, _ := lastBytes(io.LimitReader(in, endMost), pulseBytes) // what came is enough
			out[i] = end.text
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
