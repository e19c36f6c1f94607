package policies

import (
	"embed"
	"io/fs"
	"sync"
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

// libraryTexts are the texts of the files that come with the project.
var libraryTexts = sync.OnceValue(func() map[string]bool {
	texts := map[string]bool{}
	_ = eachFile(Library(), func(s source) { texts[string(s.text)] = true }) // embedded: nothing fails
	return texts
})

// builtIn are the packages among some that come with the project, word for word.
func builtIn(modules []module) map[string]bool {
	out := map[string]bool{}
	for _, m := range modules {
		if m.builtIn {
			out[m.ast.Package.Path.String()] = true
		}
	}
	return out
}
