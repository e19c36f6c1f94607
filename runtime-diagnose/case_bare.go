package diagnose

import (
	"bytes"
	"io"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// AddBare adds a file of events or pods, as objects or as pasted text, to a case. Text is
// read as a log as well: people paste more than tables.
func (c *Case) AddBare(name string, data []byte) {
	part := bare.Read(name, data, c.Now)
	c.Pods = append(c.Pods, part.Pods...)
	c.Events = append(c.Events, part.Events...)
	c.Nodes = append(c.Nodes, part.Nodes...)
	c.Objects = append(c.Objects, part.Objects...)
	if part.Text {
		c.AddLog(name, data)
		log := &c.Logs[len(c.Logs)-1]
		log.Pasted, log.Understood = true, part.Understood
	}
}

// AddLog adds the log of one container, of which nothing else is known, to a case.
func (c *Case) AddLog(name string, data []byte) {
	c.Logs = append(c.Logs, Log{
		Source: evidence.Source{File: name, Rank: -1},
		Open:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	})
}
