{{/* The labels of everything. */}}
{{- define "posthaste.labels" -}}
app.kubernetes.io/name: posthaste
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The labels that select the pods of a service: (list . "ingest"). */}}
{{- define "posthaste.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: posthaste
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "posthaste.image" -}}
{{- $root := index . 0 -}}
{{ $root.Values.image.repository }}-{{ index . 1 }}:{{ default $root.Chart.AppVersion $root.Values.image.tag }}
{{- end }}

{{- define "posthaste.secret" -}}
{{ default (printf "%s-posthaste" .Release.Name) .Values.existingSecret }}
{{- end }}

{{- define "posthaste.brokers" -}}
{{- if .Values.kafka.strimzi.enabled -}}
{{ .Release.Name }}-kafka-bootstrap:9092
{{- else -}}
{{ required "kafka.brokers: say where the brokers are, as host:port, or set kafka.strimzi.enabled" .Values.kafka.brokers }}
{{- end -}}
{{- end }}

{{- define "posthaste.registry" -}}
{{- if .Values.schemaRegistry.own.enabled -}}
http://{{ .Release.Name }}-registry:8080/apis/ccompat/v7
{{- else -}}
{{ required "schemaRegistry.url: say where the schema registry is, or set schemaRegistry.own.enabled" .Values.schemaRegistry.url }}
{{- end -}}
{{- end }}

{{/* Settings that every process has: (list . "delivery" $ownSettings). */}}
{{- define "posthaste.env" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
- { name: KAFKA_BROKERS, value: {{ include "posthaste.brokers" $root | quote }} }
- { name: SCHEMA_REGISTRY_URL, value: {{ include "posthaste.registry" $root | quote }} }
{{- if $root.Values.schemaRegistry.username }}
- { name: SCHEMA_REGISTRY_USERNAME, value: {{ $root.Values.schemaRegistry.username | quote }} }
- { name: SCHEMA_REGISTRY_PASSWORD, valueFrom: { secretKeyRef: { name: {{ include "posthaste.secret" $root }}, key: registryPassword } } }
{{- end }}
{{- if $root.Values.kafka.tls }}
- { name: KAFKA_TLS, value: "true" }
{{- end }}
{{- if $root.Values.kafka.strimzi.enabled }}
- { name: KAFKA_SASL_MECHANISM, value: scram-sha-512 }
- { name: KAFKA_SASL_USERNAME, value: {{ $root.Release.Name | quote }} }
- { name: KAFKA_SASL_PASSWORD, valueFrom: { secretKeyRef: { name: {{ $root.Release.Name }}, key: password } } }
{{- else if $root.Values.kafka.sasl.mechanism }}
- { name: KAFKA_SASL_MECHANISM, value: {{ $root.Values.kafka.sasl.mechanism | quote }} }
- { name: KAFKA_SASL_USERNAME, value: {{ $root.Values.kafka.sasl.username | quote }} }
- { name: KAFKA_SASL_PASSWORD, valueFrom: { secretKeyRef: { name: {{ include "posthaste.secret" $root }}, key: saslPassword } } }
{{- end }}
{{- if has $component (list "delivery" "control") }}
- { name: POSTHASTE_SECRET_KEYS, valueFrom: { secretKeyRef: { name: {{ include "posthaste.secret" $root }}, key: secretKeys } } }
{{- end }}
{{- range $name, $value := merge (dict) (index . 2) $root.Values.settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}

{{/* A change of the secret restarts the pods that read it. */}}
{{- define "posthaste.podMetadata" -}}
{{- $root := index . 0 -}}
labels: {{ include "posthaste.selector" . | nindent 2 }}
{{- if not $root.Values.existingSecret }}
annotations: { checksum/secret: {{ toJson $root.Values.secret | sha256sum }} }
{{- end }}
{{- end }}

{{- define "posthaste.podSecurity" -}}
automountServiceAccountToken: false
# Kubernetes would set POSTHASTE_CONTROL_PORT and its like for the Services of a release named posthaste.
enableServiceLinks: false
serviceAccountName: {{ .Release.Name }}-posthaste
securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "posthaste.containerSecurity" -}}
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
{{- end }}

{{/* Probes: liveness never asks Kafka; a start may read large tables for ten minutes. */}}
{{- define "posthaste.probes" -}}
startupProbe: { httpGet: { path: /healthz, port: operator }, periodSeconds: 2, failureThreshold: 300 }
livenessProbe: { httpGet: { path: /healthz, port: operator }, periodSeconds: 10, timeoutSeconds: 5 }
readinessProbe: { httpGet: { path: "/readyz?own", port: operator }, periodSeconds: 5, timeoutSeconds: 5 }
{{- end }}
