# METADATA
# title: pods do not reach into their nodes
# description: |
#   Privileged containers, the namespaces of the node and paths of it let a job see and change
#   what others run. data.config.host_access: {"namespaces": ["*"], "paths": ["/dev/shm"], "allow":
#   ["hostNetwork"]} names where this holds, ["*"] means all; paths and what lies below them may be
#   mounted; allow takes privileged, hostNetwork, hostPID and hostIPC.
# custom:
#   remedy: Leave it out, or ask whoever keeps the cluster for an exception.
package signalbox.no_host_access

guarded if "*" in data.config.host_access.namespaces

guarded if input.job.namespace in data.config.host_access.namespaces

excepted := object.get(data.config.host_access, "allow", [])

takes(role, "privileged") if role.privileged

takes(role, "hostNetwork") if role.host_network

takes(role, "hostPID") if role.host_pid

takes(role, "hostIPC") if role.host_ipc

# Two dots climb out of any path.
below(path) if {
	not ".." in split(path, "/")
	some allowed in object.get(data.config.host_access, "paths", [])
	startswith(concat("", [trim_suffix(path, "/"), "/"]), concat("", [trim_suffix(allowed, "/"), "/"]))
}

deny contains {"path": role.path, "msg": msg} if {
	guarded
	some role in input.job.roles
	some what in ["privileged", "hostNetwork", "hostPID", "hostIPC"]
	takes(role, what)
	not what in excepted
	msg := sprintf("%s asks for %s; jobs in namespace %s may not", [role.name, what, input.job.namespace])
}

deny contains {"path": volume.path, "msg": msg} if {
	guarded
	some role in input.job.roles
	some volume in role.volumes
	volume.kind == "hostPath"
	not below(volume.source)
	msg := sprintf("%s mounts %s of its node; jobs in namespace %s may not", [role.name, volume.source, input.job.namespace])
}
