# METADATA
# title: images come only from registries that are allowed
# description: |
#   data.config.registries: {"default": ["registry.example.com/team"], "namespaces":
#   {"ml": [...]}} lists prefixes of image names, whole path parts each. An image without a
#   registry is docker.io/library/... A namespace that is not listed gets the default;
#   without a default it is not restricted.
# custom:
#   remedy: Copy the image to an allowed registry and name it there.
package signalbox.image_registry

allowed := object.get(object.get(data.config.registries, "namespaces", {}), input.job.namespace, object.get(data.config.registries, "default", null))

deny contains {"path": role.path, "msg": msg} if {
	is_array(allowed)
	some role in input.job.roles
	some image in role.images
	not from_allowed(image)
	msg := sprintf("%s runs image %s; allowed are images from %s", [role.name, image, names])
}

from_allowed(image) if {
	some prefix in allowed
	startswith(full(image), concat("", [trim_suffix(prefix, "/"), "/"]))
}

# The first part is a registry where it holds a dot or a colon or is localhost; this is
# how container engines read names (distribution/reference, normalize.go).
full(image) := image if has_registry(image)

full(image) := concat("", ["docker.io/", image]) if {
	not has_registry(image)
	contains(image, "/")
}

full(image) := concat("", ["docker.io/library/", image]) if not contains(image, "/")

has_registry(image) if {
	contains(image, "/")
	regex.match(`^([^/]*[.:A-Z][^/]*|localhost)$`, split(image, "/")[0])
}

names := "nowhere" if count(allowed) == 0

names := concat(", ", sort(allowed)) if count(allowed) > 0
