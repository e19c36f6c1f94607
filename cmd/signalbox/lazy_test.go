package main

import (
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// TestEveryExpressionCompiles asks for what the program would only compile when it is needed.
func TestEveryExpressionCompiles(t *testing.T) {
	if n := lazy.CompileAll(); n < 100 {
		t.Errorf("only %d expressions are held by the program", n)
	}
}
