/**
 * Types of the specs of the objects that run a gateway, from an API server (Kubernetes 1.35, `/openapi/v3`), with
 * their fields. `[Type]` is a list, `{Type}` a map, `/key` the key by which list items are merged. A test compares
 * this with an API server.
 */
export const overlayTypes: string = `
AWSElasticBlockStoreVolumeSource fsType:string partition:integer readOnly:boolean volumeID:string
Affinity nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity
AppArmorProfile localhostProfile:string type:string
AzureDiskVolumeSource cachingMode:string diskName:string diskURI:string fsType:string kind:string readOnly:boolean
AzureFileVolumeSource readOnly:boolean secretName:string shareName:string
CSIVolumeSource driver:string fsType:string nodePublishSecretRef:LocalObjectReference readOnly:boolean
 volumeAttributes:{string}
Capabilities add:[string] drop:[string]
CephFSVolumeSource monitors:[string] path:string readOnly:boolean secretFile:string secretRef:LocalObjectReference
 user:string
CinderVolumeSource fsType:string readOnly:boolean secretRef:LocalObjectReference volumeID:string
ClientIPConfig timeoutSeconds:integer
ClusterTrustBundleProjection labelSelector:LabelSelector name:string optional:boolean path:string signerName:string
ConfigMapEnvSource name:string optional:boolean
ConfigMapKeySelector key:string name:string optional:boolean
ConfigMapProjection items:[KeyToPath] name:string optional:boolean
ConfigMapVolumeSource defaultMode:integer items:[KeyToPath] name:string optional:boolean
Container args:[string] command:[string] env:[EnvVar]/name envFrom:[EnvFromSource] image:string imagePullPolicy:string
 lifecycle:Lifecycle livenessProbe:Probe name:string ports:[ContainerPort]/containerPort readinessProbe:Probe
 resizePolicy:[ContainerResizePolicy] resources:ResourceRequirements restartPolicy:string
 restartPolicyRules:[ContainerRestartRule] securityContext:SecurityContext startupProbe:Probe stdin:boolean
 stdinOnce:boolean terminationMessagePath:string terminationMessagePolicy:string tty:boolean
 volumeDevices:[VolumeDevice]/devicePath volumeMounts:[VolumeMount]/mountPath workingDir:string
ContainerPort containerPort:integer hostIP:string hostPort:integer name:string protocol:string
ContainerResizePolicy resourceName:string restartPolicy:string
ContainerResourceMetricSource container:string name:string target:MetricTarget
ContainerRestartRule action:string exitCodes:ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator:string values:[integer]
CrossVersionObjectReference apiVersion:string kind:string name:string
DaemonSetSpec minReadySeconds:integer revisionHistoryLimit:integer selector:LabelSelector template:PodTemplateSpec
 updateStrategy:DaemonSetUpdateStrategy
DaemonSetUpdateStrategy rollingUpdate:RollingUpdateDaemonSet type:string
DeploymentSpec minReadySeconds:integer paused:boolean progressDeadlineSeconds:integer replicas:integer
 revisionHistoryLimit:integer selector:LabelSelector strategy:DeploymentStrategy template:PodTemplateSpec
DeploymentStrategy rollingUpdate:RollingUpdateDeployment type:string
DownwardAPIProjection items:[DownwardAPIVolumeFile]
DownwardAPIVolumeFile fieldRef:ObjectFieldSelector mode:integer path:string resourceFieldRef:ResourceFieldSelector
DownwardAPIVolumeSource defaultMode:integer items:[DownwardAPIVolumeFile]
EmptyDirVolumeSource medium:string sizeLimit:quantity
EnvFromSource configMapRef:ConfigMapEnvSource prefix:string secretRef:SecretEnvSource
EnvVar name:string value:string valueFrom:EnvVarSource
EnvVarSource configMapKeyRef:ConfigMapKeySelector fieldRef:ObjectFieldSelector fileKeyRef:FileKeySelector
 resourceFieldRef:ResourceFieldSelector secretKeyRef:SecretKeySelector
EphemeralContainer args:[string] command:[string] env:[EnvVar]/name envFrom:[EnvFromSource] image:string
 imagePullPolicy:string lifecycle:Lifecycle livenessProbe:Probe name:string ports:[ContainerPort]/containerPort
 readinessProbe:Probe resizePolicy:[ContainerResizePolicy] resources:ResourceRequirements restartPolicy:string
 restartPolicyRules:[ContainerRestartRule] securityContext:SecurityContext startupProbe:Probe stdin:boolean
 stdinOnce:boolean targetContainerName:string terminationMessagePath:string terminationMessagePolicy:string
 tty:boolean volumeDevices:[VolumeDevice]/devicePath volumeMounts:[VolumeMount]/mountPath workingDir:string
EphemeralVolumeSource volumeClaimTemplate:PersistentVolumeClaimTemplate
ExecAction command:[string]
ExternalMetricSource metric:MetricIdentifier target:MetricTarget
FCVolumeSource fsType:string lun:integer readOnly:boolean targetWWNs:[string] wwids:[string]
FileKeySelector key:string optional:boolean path:string volumeName:string
FlexVolumeSource driver:string fsType:string options:{string} readOnly:boolean secretRef:LocalObjectReference
FlockerVolumeSource datasetName:string datasetUUID:string
GCEPersistentDiskVolumeSource fsType:string partition:integer pdName:string readOnly:boolean
GRPCAction port:integer service:string
GitRepoVolumeSource directory:string repository:string revision:string
GlusterfsVolumeSource endpoints:string path:string readOnly:boolean
HPAScalingPolicy periodSeconds:integer type:string value:integer
HPAScalingRules policies:[HPAScalingPolicy] selectPolicy:string stabilizationWindowSeconds:integer tolerance:quantity
HTTPGetAction host:string httpHeaders:[HTTPHeader] path:string port:int-or-string scheme:string
HTTPHeader name:string value:string
HorizontalPodAutoscalerBehavior scaleDown:HPAScalingRules scaleUp:HPAScalingRules
HorizontalPodAutoscalerSpec behavior:HorizontalPodAutoscalerBehavior maxReplicas:integer metrics:[MetricSpec]
 minReplicas:integer scaleTargetRef:CrossVersionObjectReference
HostAlias hostnames:[string] ip:string
HostPathVolumeSource path:string type:string
ISCSIVolumeSource chapAuthDiscovery:boolean chapAuthSession:boolean fsType:string initiatorName:string iqn:string
 iscsiInterface:string lun:integer portals:[string] readOnly:boolean secretRef:LocalObjectReference
 targetPortal:string
ImageVolumeSource pullPolicy:string reference:string
KeyToPath key:string mode:integer path:string
LabelSelector matchExpressions:[LabelSelectorRequirement] matchLabels:{string}
LabelSelectorRequirement key:string operator:string values:[string]
Lifecycle postStart:LifecycleHandler preStop:LifecycleHandler stopSignal:string
LifecycleHandler exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction tcpSocket:TCPSocketAction
LocalObjectReference name:string
ManagedFieldsEntry apiVersion:string fieldsType:string fieldsV1:any manager:string operation:string subresource:string
 time:string
MetricIdentifier name:string selector:LabelSelector
MetricSpec containerResource:ContainerResourceMetricSource external:ExternalMetricSource object:ObjectMetricSource
 pods:PodsMetricSource resource:ResourceMetricSource type:string
MetricTarget averageUtilization:integer averageValue:quantity type:string value:quantity
NFSVolumeSource path:string readOnly:boolean server:string
NodeAffinity preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm]
 requiredDuringSchedulingIgnoredDuringExecution:NodeSelector
NodeSelector nodeSelectorTerms:[NodeSelectorTerm]
NodeSelectorRequirement key:string operator:string values:[string]
NodeSelectorTerm matchExpressions:[NodeSelectorRequirement] matchFields:[NodeSelectorRequirement]
ObjectFieldSelector apiVersion:string fieldPath:string
ObjectMeta annotations:{string} creationTimestamp:string deletionGracePeriodSeconds:integer deletionTimestamp:string
 finalizers:[string] generateName:string generation:integer labels:{string} managedFields:[ManagedFieldsEntry]
 name:string namespace:string ownerReferences:[OwnerReference]/uid resourceVersion:string selfLink:string uid:string
ObjectMetricSource describedObject:CrossVersionObjectReference metric:MetricIdentifier target:MetricTarget
OwnerReference apiVersion:string blockOwnerDeletion:boolean controller:boolean kind:string name:string uid:string
PersistentVolumeClaimSpec accessModes:[string] dataSource:TypedLocalObjectReference dataSourceRef:TypedObjectReference
 resources:VolumeResourceRequirements selector:LabelSelector storageClassName:string volumeAttributesClassName:string
 volumeMode:string volumeName:string
PersistentVolumeClaimTemplate metadata:ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName:string readOnly:boolean
PhotonPersistentDiskVolumeSource fsType:string pdID:string
PodAffinity preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
 requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
PodAffinityTerm labelSelector:LabelSelector matchLabelKeys:[string] mismatchLabelKeys:[string]
 namespaceSelector:LabelSelector namespaces:[string] topologyKey:string
PodAntiAffinity preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
 requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
PodCertificateProjection certificateChainPath:string credentialBundlePath:string keyPath:string keyType:string
 maxExpirationSeconds:integer signerName:string userAnnotations:{string}
PodDNSConfig nameservers:[string] options:[PodDNSConfigOption] searches:[string]
PodDNSConfigOption name:string value:string
PodDisruptionBudgetSpec maxUnavailable:int-or-string minAvailable:int-or-string selector:LabelSelector
 unhealthyPodEvictionPolicy:string
PodOS name:string
PodReadinessGate conditionType:string
PodResourceClaim name:string resourceClaimName:string resourceClaimTemplateName:string
PodSchedulingGate name:string
PodSecurityContext appArmorProfile:AppArmorProfile fsGroup:integer fsGroupChangePolicy:string runAsGroup:integer
 runAsNonRoot:boolean runAsUser:integer seLinuxChangePolicy:string seLinuxOptions:SELinuxOptions
 seccompProfile:SeccompProfile supplementalGroups:[integer] supplementalGroupsPolicy:string sysctls:[Sysctl]
 windowsOptions:WindowsSecurityContextOptions
PodSpec activeDeadlineSeconds:integer affinity:Affinity automountServiceAccountToken:boolean
 containers:[Container]/name dnsConfig:PodDNSConfig dnsPolicy:string enableServiceLinks:boolean
 ephemeralContainers:[EphemeralContainer]/name hostAliases:[HostAlias]/ip hostIPC:boolean hostNetwork:boolean
 hostPID:boolean hostUsers:boolean hostname:string hostnameOverride:string
 imagePullSecrets:[LocalObjectReference]/name initContainers:[Container]/name nodeName:string nodeSelector:{string}
 os:PodOS overhead:{quantity} preemptionPolicy:string priority:integer priorityClassName:string
 readinessGates:[PodReadinessGate] resourceClaims:[PodResourceClaim]/name resources:ResourceRequirements
 restartPolicy:string runtimeClassName:string schedulerName:string schedulingGates:[PodSchedulingGate]/name
 securityContext:PodSecurityContext serviceAccount:string serviceAccountName:string setHostnameAsFQDN:boolean
 shareProcessNamespace:boolean subdomain:string terminationGracePeriodSeconds:integer tolerations:[Toleration]
 topologySpreadConstraints:[TopologySpreadConstraint]/topologyKey volumes:[Volume]/name workloadRef:WorkloadReference
PodTemplateSpec metadata:ObjectMeta spec:PodSpec
PodsMetricSource metric:MetricIdentifier target:MetricTarget
PortworxVolumeSource fsType:string readOnly:boolean volumeID:string
PreferredSchedulingTerm preference:NodeSelectorTerm weight:integer
Probe exec:ExecAction failureThreshold:integer grpc:GRPCAction httpGet:HTTPGetAction initialDelaySeconds:integer
 periodSeconds:integer successThreshold:integer tcpSocket:TCPSocketAction terminationGracePeriodSeconds:integer
 timeoutSeconds:integer
ProjectedVolumeSource defaultMode:integer sources:[VolumeProjection]
QuobyteVolumeSource group:string readOnly:boolean registry:string tenant:string user:string volume:string
RBDVolumeSource fsType:string image:string keyring:string monitors:[string] pool:string readOnly:boolean
 secretRef:LocalObjectReference user:string
ResourceClaim name:string request:string
ResourceFieldSelector containerName:string divisor:quantity resource:string
ResourceMetricSource name:string target:MetricTarget
ResourceRequirements claims:[ResourceClaim] limits:{quantity} requests:{quantity}
RollingUpdateDaemonSet maxSurge:int-or-string maxUnavailable:int-or-string
RollingUpdateDeployment maxSurge:int-or-string maxUnavailable:int-or-string
SELinuxOptions level:string role:string type:string user:string
ScaleIOVolumeSource fsType:string gateway:string protectionDomain:string readOnly:boolean
 secretRef:LocalObjectReference sslEnabled:boolean storageMode:string storagePool:string system:string
 volumeName:string
SeccompProfile localhostProfile:string type:string
SecretEnvSource name:string optional:boolean
SecretKeySelector key:string name:string optional:boolean
SecretProjection items:[KeyToPath] name:string optional:boolean
SecretVolumeSource defaultMode:integer items:[KeyToPath] optional:boolean secretName:string
SecurityContext allowPrivilegeEscalation:boolean appArmorProfile:AppArmorProfile capabilities:Capabilities
 privileged:boolean procMount:string readOnlyRootFilesystem:boolean runAsGroup:integer runAsNonRoot:boolean
 runAsUser:integer seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile
 windowsOptions:WindowsSecurityContextOptions
ServiceAccountTokenProjection audience:string expirationSeconds:integer path:string
ServicePort appProtocol:string name:string nodePort:integer port:integer protocol:string targetPort:int-or-string
ServiceSpec allocateLoadBalancerNodePorts:boolean clusterIP:string clusterIPs:[string] externalIPs:[string]
 externalName:string externalTrafficPolicy:string healthCheckNodePort:integer internalTrafficPolicy:string
 ipFamilies:[string] ipFamilyPolicy:string loadBalancerClass:string loadBalancerIP:string
 loadBalancerSourceRanges:[string] ports:[ServicePort]/port publishNotReadyAddresses:boolean selector:{string}
 sessionAffinity:string sessionAffinityConfig:SessionAffinityConfig trafficDistribution:string type:string
SessionAffinityConfig clientIP:ClientIPConfig
SleepAction seconds:integer
StorageOSVolumeSource fsType:string readOnly:boolean secretRef:LocalObjectReference volumeName:string
 volumeNamespace:string
Sysctl name:string value:string
TCPSocketAction host:string port:int-or-string
Toleration effect:string key:string operator:string tolerationSeconds:integer value:string
TopologySpreadConstraint labelSelector:LabelSelector matchLabelKeys:[string] maxSkew:integer minDomains:integer
 nodeAffinityPolicy:string nodeTaintsPolicy:string topologyKey:string whenUnsatisfiable:string
TypedLocalObjectReference apiGroup:string kind:string name:string
TypedObjectReference apiGroup:string kind:string name:string namespace:string
Volume awsElasticBlockStore:AWSElasticBlockStoreVolumeSource azureDisk:AzureDiskVolumeSource
 azureFile:AzureFileVolumeSource cephfs:CephFSVolumeSource cinder:CinderVolumeSource configMap:ConfigMapVolumeSource
 csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource emptyDir:EmptyDirVolumeSource ephemeral:EphemeralVolumeSource
 fc:FCVolumeSource flexVolume:FlexVolumeSource flocker:FlockerVolumeSource
 gcePersistentDisk:GCEPersistentDiskVolumeSource gitRepo:GitRepoVolumeSource glusterfs:GlusterfsVolumeSource
 hostPath:HostPathVolumeSource image:ImageVolumeSource iscsi:ISCSIVolumeSource name:string nfs:NFSVolumeSource
 persistentVolumeClaim:PersistentVolumeClaimVolumeSource photonPersistentDisk:PhotonPersistentDiskVolumeSource
 portworxVolume:PortworxVolumeSource projected:ProjectedVolumeSource quobyte:QuobyteVolumeSource rbd:RBDVolumeSource
 scaleIO:ScaleIOVolumeSource secret:SecretVolumeSource storageos:StorageOSVolumeSource
 vsphereVolume:VsphereVirtualDiskVolumeSource
VolumeDevice devicePath:string name:string
VolumeMount mountPath:string mountPropagation:string name:string readOnly:boolean recursiveReadOnly:string
 subPath:string subPathExpr:string
VolumeProjection clusterTrustBundle:ClusterTrustBundleProjection configMap:ConfigMapProjection
 downwardAPI:DownwardAPIProjection podCertificate:PodCertificateProjection secret:SecretProjection
 serviceAccountToken:ServiceAccountTokenProjection
VolumeResourceRequirements limits:{quantity} requests:{quantity}
VsphereVirtualDiskVolumeSource fsType:string storagePolicyID:string storagePolicyName:string volumePath:string
WeightedPodAffinityTerm podAffinityTerm:PodAffinityTerm weight:integer
WindowsSecurityContextOptions gmsaCredentialSpec:string gmsaCredentialSpecName:string hostProcess:boolean
 runAsUserName:string
WorkloadReference name:string podGroup:string podGroupReplicaKey:string
`;
