// Package signatures is the catalog of signatures that a command reads by: the built-in ones, and those of folders.
package signatures

import (
	"os"
	"sync"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// With is the program's catalog and the signatures of folders.
func With(folders []string) (*signature.Catalog, error) {
	catalog, err := signature.Builtin()
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return nil, shell.Usagef("read signatures %s: expected a folder of <id>.yaml", folder)
		}
		if catalog, err = catalog.With(controller.KnownRules(), shell.Folder(folder)); err != nil {
			return nil, shell.Usagef("read signatures of %s: %w", folder, err)
		}
	}
	return catalog, nil
}

// Builtin are read once, too.
var Builtin = sync.OnceValues(signature.Builtin)
