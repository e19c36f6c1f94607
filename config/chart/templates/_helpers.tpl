{{- define "signalbox.labels" -}}
app.kubernetes.io/name: signalbox
app.kubernetes.io/part-of: signalbox
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "signalbox.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}

{{- /* What differs from the defaults of the program; .Values.config comes last. What manifests hold, too, is said by one
value for both. */ -}}
{{- define "signalbox.config" -}}
{{- $by := dict "namespace" "the namespace of the release" "webhook.exclude" "namespaces.exclude" "webhook.closed" "closed" "diagnosis.aegis" "aegis.enabled" "leaderElection.enabled" "the Deployment, of which two pods run while one is replaced" -}}
{{- range list "mode" "dir" "secret" "service" "webhookConfiguration" -}}
{{- $_ := set $by (print "certificates." .) "certificates.mode" -}}
{{- end -}}
{{- range list "webhook" "metrics" "health" -}}
{{- $_ := set $by (print "listen." .) "the ports of the Deployment" -}}
{{- end -}}
{{- range $path, $says := $by -}}
{{- $at := $.Values.config -}}
{{- range splitList "." $path -}}
{{- if kindIs "map" $at -}}
{{- $at = index $at . -}}
{{- end -}}
{{- end -}}
{{- if not (or (kindIs "invalid" $at) (eq (toString $at) (get (dict "namespace" $.Release.Namespace "leaderElection.enabled" "true") $path))) -}}
{{- fail (printf "config.%s is set, and is for %s to say" $path $says) -}}
{{- end -}}
{{- end -}}
{{- $c := dict "leaderElection" (dict "enabled" true) "listen" (dict "debug" "127.0.0.1:8082") "log" (dict "format" "json") -}}
{{- if ne .Release.Namespace "signalbox-system" -}}
{{- $_ := set $c "namespace" .Release.Namespace -}}
{{- end -}}
{{- if eq .Values.certificates.mode "cert-manager" -}}
{{- $_ := set $c "certificates" (dict "mode" "files" "dir" "/var/run/signalbox/certs") -}}
{{- end -}}
{{- $webhook := dict -}}
{{- with .Values.namespaces.exclude -}}
{{- $_ := set $webhook "exclude" . -}}
{{- end -}}
{{- if .Values.closed.enabled -}}
{{- $_ := set $webhook "closed" (dict "enabled" true "replicas" (int .Values.replicas)) -}}
{{- end -}}
{{- if $webhook -}}
{{- $_ := set $c "webhook" $webhook -}}
{{- end -}}
{{- if .Values.aegis.enabled -}}
{{- $_ := set $c "diagnosis" (dict "aegis" true) -}}
{{- end -}}
{{- with .Values.notifications.receivers -}}
{{- $_ := set $c "notifications" (dict "receivers" .) -}}
{{- end -}}
{{- with .Values.model -}}
{{- if .provider -}}
{{- $llm := dict "provider" .provider "baseURL" .baseURL "allow" .allow "model" .name -}}
{{- if .apiKeySecret -}}
{{- $_ := set $llm "apiKeyFile" "/var/run/signalbox/model/api-key" -}}
{{- end -}}
{{- $_ := set $c "llm" $llm -}}
{{- end -}}
{{- end -}}
{{- with .Values.policyBundle -}}
{{- if .reference -}}
{{- $bundle := dict "reference" .reference -}}
{{- if .keySecret -}}
{{- $_ := set $bundle "key" "/var/run/signalbox/bundle-key/key.pem" -}}
{{- end -}}
{{- if .credentialsSecret -}}
{{- $_ := set $bundle "credentials" "/var/run/signalbox/bundle-registry/config.json" -}}
{{- end -}}
{{- $_ := set $c "policies" (dict "bundle" $bundle) -}}
{{- end -}}
{{- end -}}
{{- toYaml (mergeOverwrite $c (deepCopy .Values.config)) -}}
{{- end }}
