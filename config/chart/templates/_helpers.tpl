{{- define "signalbox.labels" -}}
app.kubernetes.io/name: signalbox
app.kubernetes.io/part-of: signalbox
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "signalbox.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}

{{- /* What differs from the defaults of the program; .Values.config comes last. */ -}}
{{- define "signalbox.config" -}}
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
