package cluster

import (
	corev1 "k8s.io/api/core/v1"
)

// A cluster with tens of thousands of claims has a volume for each. As Go values the two take 1.6 KB, in pieces that the
// garbage collector looks into; as protobuf 0.3 KB, in one piece each, and a question reads those of its own job alone.

// kept is what was read of an object, in a shorter form.
type kept interface{ open() any }

// readOf is what was read of an object as a type; false: it is of another, or could not be read.
func readOf[T any](o *object) (*T, bool) {
	read := o.read
	if short, ok := read.(kept); ok {
		read = short.open()
	}
	v, ok := read.(*T)
	return v, ok
}

// keptClaim is a PersistentVolumeClaim.
type keptClaim string

func (k keptClaim) open() any {
	c := &corev1.PersistentVolumeClaim{}
	if c.Unmarshal([]byte(k)) != nil { // what Marshal wrote can be read
		return nil
	}
	return c
}

func keepClaim(read any) any {
	c, ok := read.(*corev1.PersistentVolumeClaim)
	if !ok {
		return read
	}
	text, err := c.Marshal()
	if err != nil {
		return read
	}
	return keptClaim(text)
}

// keptVolume is a PersistentVolume that a claim has.
type keptVolume string

func (k keptVolume) open() any {
	v := &corev1.PersistentVolume{}
	if v.Unmarshal([]byte(k)) != nil {
		return nil
	}
	return volumeOf(v)
}

// keepVolume leaves a volume that no claim has as it is: a claim that waits looks at all of those.
func keepVolume(read any) any {
	v, ok := read.(*Volume)
	if !ok || v.Spec.ClaimRef == nil {
		return read
	}
	text, err := v.Marshal()
	if err != nil {
		return read
	}
	return keptVolume(text)
}
