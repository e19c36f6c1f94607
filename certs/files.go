package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

// reread is how often files are looked at again. The kubelet itself takes up to a minute
// to bring a changed Secret into a volume.
const reread = 10 * time.Second

// Files serves the certificate that lies in a folder as tls.crt and tls.key, as a
// mounted Secret does, and follows its changes. Make it with NewFiles.
type Files struct {
	held
	dir    string
	ticker clock.WithTicker
	log    logr.Logger
}

var _ Source = (*Files)(nil)

// NewFiles makes a source of a folder. The files need not be there yet. expiry may be nil.
func NewFiles(dir string, c clock.WithTicker, expiry *prometheus.GaugeVec, log logr.Logger) *Files {
	return &Files{held: held{now: c.Now, expiry: expiry}, dir: dir, ticker: c, log: log}
}

// Start reads the files now and every ten seconds. A pair that cannot be read leaves
// the last good one in place.
func (f *Files) Start(ctx context.Context) error {
	tick := f.ticker.NewTicker(reread)
	defer tick.Stop()
	said := ""
	for {
		err := f.read()
		if text := fmt.Sprint(err); err != nil && text != said {
			f.log.Error(err, "keep the certificate current", "dir", f.dir)
			said = text
		} else if err == nil {
			said = ""
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C():
		}
	}
}

func (f *Files) read() error {
	c, err := tls.LoadX509KeyPair(filepath.Join(f.dir, "tls.crt"), filepath.Join(f.dir, "tls.key"))
	if err != nil {
		return fmt.Errorf("read the certificate in %s: %w", f.dir, err)
	}
	f.hold(&c)
	return nil
}
