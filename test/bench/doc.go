// Package bench measures what needs a real API server: how long the view of a big cluster
// takes to stand, what memory it holds, what an event costs it. It has benchmarks only;
// page/ makes documentation of what they print.
package bench
