package plan

import (
	"reflect"
	"slices"

	"github.com/open-policy-agent/opa/v1/ir"
)

// uses is what the statements of a function do with its locals. Plans copy each value several
// times, from one local to the next: a local that is filled in one place, from a local that is
// filled in one place, is another name of it.
type uses struct {
	written map[ir.Local]int
	read    map[ir.Local]int
	copied  map[ir.Local][]ir.Local // into which others
	fixed   map[ir.Local]bool       // asked whether it is defined, returned, or filled bit by bit
}

func usesOf(fn *ir.Func) uses {
	u := uses{map[ir.Local]int{}, map[ir.Local]int{}, map[ir.Local][]ir.Local{}, map[ir.Local]bool{fn.Return: true}}
	for _, p := range fn.Params {
		u.written[p]++
	}
	u.blocks(fn.Blocks)
	return u
}

func (u uses) blocks(all []*ir.Block) {
	for _, b := range all {
		for _, statement := range b.Stmts {
			u.statement(statement)
		}
	}
}

// statement reads the fields of a statement: what they are is in their types and names
// (github.com/open-policy-agent/opa/v1/ir).
func (u uses) statement(statement ir.Stmt) {
	if s, ok := statement.(*ir.AssignVarStmt); ok {
		if from, ok := s.Source.Value.(ir.Local); ok {
			u.copied[from] = append(u.copied[from], s.Target)
		}
	}
	of := reflect.Indirect(reflect.ValueOf(statement))
	for i := range of.NumField() {
		switch v := of.Field(i).Interface().(type) {
		case ir.Operand:
			u.operand(v)
		case []ir.Operand:
			for _, o := range v {
				u.operand(o)
			}
		case ir.Local:
			u.local(statement, of.Type().Field(i).Name, v)
		case *ir.Block:
			u.blocks([]*ir.Block{v})
		case []*ir.Block:
			u.blocks(v)
		}
	}
}

func (u uses) operand(o ir.Operand) {
	if local, ok := o.Value.(ir.Local); ok {
		u.read[local]++
	}
}

func (u uses) local(statement ir.Stmt, field string, local ir.Local) {
	_, scan := statement.(*ir.ScanStmt)
	_, once := statement.(*ir.AssignVarOnceStmt)
	switch {
	case scan && field == "Source":
		u.read[local]++
	case once || field != "Target" && field != "Result" && !scan:
		u.fixed[local] = true
	}
	if field != "Source" {
		u.written[local]++
	}
}

// single says whether a local is filled in one place, and all at once.
func (u uses) single(local ir.Local) bool { return u.written[local] == 1 && !u.fixed[local] }

// once says whether a local is filled in one place and read in one.
func (u uses) once(local ir.Local) bool { return u.single(local) && u.read[local] == 1 }

// dead says whether nothing reads a local but copies of it that nothing reads.
func (u uses) dead(local ir.Local) bool {
	copies := u.copied[local]
	return u.single(local) && u.read[local] == len(copies) && !slices.ContainsFunc(copies, func(c ir.Local) bool { return u.read[c] > 0 || !u.single(c) })
}

// rename notes that a local is another name of an operand; false: it is a place of its own.
func (l *linker) rename(target ir.Local, source operand) bool {
	if !l.uses.single(target) || source.constant == nil && source.field == nil && !l.uses.single(source.local) {
		return false
	}
	l.names[target] = source
	return true
}
