# METADATA
# title: images are named by their digest
# description: |
#   A tag can be moved to another image between two runs, and then the second run is not the
#   first one again. data.config.digests: {"namespaces": ["prod"]} names the namespaces where this holds; ["*"] means all.
# custom:
#   remedy: Write name@sha256:… for every image.
package signalbox.image_needs_digest

guarded if "*" in data.config.digests.namespaces

guarded if input.job.namespace in data.config.digests.namespaces

deny contains {"path": role.path, "msg": msg} if {
	guarded
	some role in input.job.roles
	some image in role.images
	not regex.match(`@sha256:[0-9a-f]{64}$`, image)
	msg := sprintf("%s runs image %s, which names no digest", [role.name, image])
}
