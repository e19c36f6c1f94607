# The binary is static; from the first stage come only it and the certificates that a language
# model's server is checked against.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -ldflags "-s -w -X main.version=${VERSION}" -o /signalbox ./cmd/signalbox

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /signalbox /signalbox
USER 65532:65532
ENTRYPOINT ["/signalbox"]
