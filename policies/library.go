package policies

import (
	"embed"
	"io/fs"
)

//go:embed library/*.rego
var library embed.FS

// Library is the policies that come with the project. They are silent until data
// configures them; each says in its METADATA which.
func Library() fs.FS {
	sub, err := fs.Sub(library, "library")
	if err != nil {
		return library // cannot happen: the folder is embedded
	}
	return sub
}
